import { Clock } from './clock.js';
import { TallyRefresher } from './tally-refresh.js';
import { Connection, reconnectOnWake } from './socket.js';
import { Store } from './store.js';

/** @import {Role} from './messages.js' */

/** @typedef {{clock: Clock, store: Store, connection: Connection, refresher: TallyRefresher, close: () => void}} Live */

/**
 * Connects to a room: a WebSocket whose messages update a store, and a fallback that reads the round when no messages come.
 * @param {string} code
 * @param {Role} role
 * @param {() => Promise<string>} [diagnose] see Connection
 * @returns {Live}
 */
export function connectRoom(code, role, diagnose) {
  const clock = new Clock();
  const store = new Store(clock);
  const connection = new Connection({
    url: socketAddress(code, role),
    receive: (message) => store.receive(message),
    stamp: () => clock.stamp(),
    woke: () => { clock.distrust(); store.refresh(); },
    diagnose,
  });
  const sleep = reconnectOnWake(connection);
  connection.open();
  const refresher = new TallyRefresher({ store, connection, role, stamp: () => clock.stamp() });
  return { clock, store, connection, refresher, close: () => { sleep(); refresher.stop(); connection.end(); store.stop(); } };
}

/** @param {string} code @param {Role} role */
function socketAddress(code, role) {
  const address = new URL('/ws', location.href);
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
  address.search = new URLSearchParams({ room: code, role }).toString();
  return address.href;
}
