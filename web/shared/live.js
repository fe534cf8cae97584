import { Clock } from './clock.js';
import { Freshness } from './freshness.js';
import { Connection, wakeWithDevice } from './socket.js';
import { Store } from './store.js';

/** @import {Role} from './messages.js' */

/** @typedef {{clock: Clock, store: Store, connection: Connection, freshness: Freshness, close: () => void}} Live */

/**
 * Joins a room's live messages: a connection that feeds a store that follows a clock, and what reads the round when messages stay away.
 * @param {string} code
 * @param {Role} role
 * @param {() => Promise<string>} [diagnose] see Connection
 * @returns {Live}
 */
export function goLive(code, role, diagnose) {
  const clock = new Clock();
  const store = new Store(clock);
  const connection = new Connection({
    url: socketAddress(code, role),
    receive: (message) => store.receive(message),
    stamp: () => clock.stamp(),
    woke: () => { clock.distrust(); store.refresh(); },
    diagnose,
  });
  const sleep = wakeWithDevice(connection);
  connection.open();
  const freshness = new Freshness({ store, connection, role, stamp: () => clock.stamp() });
  return { clock, store, connection, freshness, close: () => { sleep(); freshness.stop(); connection.end(); store.stop(); } };
}

/** @param {string} code @param {Role} role */
function socketAddress(code, role) {
  const address = new URL('/ws', location.href);
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
  address.search = new URLSearchParams({ room: code, role }).toString();
  return address.href;
}
