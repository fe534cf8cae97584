import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromOn, PAGE, readGuests, withGuest } from './players-list.js';

const { signal } = new AbortController();
const MARK_MS = 2000;

/** The API over a list in memory, the newest first; as the server answers it. */
function setUp(count) {
  const guests = [];
  const asked = [];
  let clock = 0;
  let lastId = 0;
  const join = ({ nickname = 'guest', at = clock += 100 } = {}) => {
    const guest = { id: String(++lastId).padStart(6, '0'), nickname, joined_at: at, blocked: false, own: false };
    guests.push(guest);
    guests.sort((a, b) => b.joined_at - a.joined_at || (a.id < b.id ? 1 : -1));
    return guest;
  };
  const older = (at) => guests.filter((guest) => guest.joined_at < at).length;
  const list = async (query) => {
    asked.push(query);
    const { limit, name, before, after } = query;
    const [at, mark] = (after ?? '0.0').split('.').map(Number);
    const place = before?.split('.');
    const match = (guest) => guest.nickname.toLowerCase().includes(name.toLowerCase());
    const all = guests.filter(match).filter((guest) => !place || guest.joined_at < Number(place[0]) || (guest.joined_at === Number(place[0]) && guest.id < place[1]));
    const news = all.filter((guest) => guest.joined_at >= at);
    const anew = Boolean(after) && (older(at) !== mark || news.length > limit);
    const found = after && !anew ? news : all;
    const players = found.slice(0, limit).map((guest) => ({ ...guest }));
    const latest = Math.max(1, (guests[0]?.joined_at ?? 0) - MARK_MS);
    return { players, total: guests.length, most: 0, next: found.length > limit ? `${players[limit - 1].joined_at}.${players[limit - 1].id}` : '', latest: `${latest}.${older(latest)}`, anew };
  };
  for (let i = 0; i < count; i++) join();
  const read = async (known, wish = {}, whole = false) => {
    asked.length = 0;
    return readGuests(list, { sought: '', shown: PAGE, kept: '', ...wish }, { known, whole, signal });
  };
  return { guests, asked, join, read, ids: (n) => guests.slice(0, n).map(({ id }) => id) };
}

const ids = (list) => list.guests.map(({ id }) => id);

test('the first page is read once, and a join costs one small answer', async () => {
  const { asked, join, read, ids: newest } = setUp(10_000);
  let list = await read(null);
  assert.deepEqual([ids(list), list.total, asked.length], [newest(PAGE), 10_000, 1]);
  join();
  list = await read(list);
  assert.deepEqual([ids(list), list.total, asked.length, asked[0].after !== undefined], [newest(PAGE), 10_001, 1, true]);
  assert.equal((await read(list)).guests.length, PAGE, 'nobody comes twice');
});

test('more are read below what is shown while others join above, without a gap', async () => {
  const { asked, join, read, guests } = setUp(400);
  let list = await read(null);
  for (let shown = PAGE; list.next; shown += PAGE) {
    for (let i = 0; i < 7; i++) join();
    list = await read(list, { shown });
    assert.ok(asked.length <= 2, `${asked.length} requests`);
    assert.deepEqual(ids(list), guests.slice(0, Math.min(shown, guests.length)).map(({ id }) => id));
  }
  assert.equal(list.guests.length, guests.length);
});

test('everything that is shown is read again when somebody was edited, and what is below the list begins the next page', async () => {
  const { guests, join, read, ids: newest, asked } = setUp(1000);
  let list = await read(null, { shown: 450 });
  guests[300].nickname = 'another name';
  join();
  list = await read(list, { shown: 450 }, true);
  assert.deepEqual([ids(list), asked.length, list.guests[301].nickname], [newest(450), 3, 'another name']);
  list = await read(list, { shown: 500 });
  assert.deepEqual(ids(list), newest(500));
});

test('somebody whom a clock that is behind let in is listed at once, and so are more than one answer holds', async () => {
  const { guests, join, read, ids: newest } = setUp(100);
  let list = await read(null);
  const late = join({ at: guests[20].joined_at });
  list = await read(list);
  assert.ok(ids(list).includes(late.id));
  for (let i = 0; i < 300; i++) join();
  assert.deepEqual(ids(await read(list)), newest(PAGE));
});

test('a search is read anew, follows who joins, and ends where the matches do', async () => {
  const { join, read } = setUp(300);
  const first = join({ nickname: 'Ann' });
  let list = await read(null);
  list = await read(list, { sought: 'ANN' });
  assert.deepEqual([ids(list), list.sought, list.next, list.total], [[first.id], 'ANN', '', 301]);
  join({ nickname: 'Bob' });
  const second = join({ nickname: 'anna' });
  list = await read(list, { sought: 'ANN' });
  assert.deepEqual(ids(list), [second.id, first.id]);
  assert.equal((await read(list)).guests.length, PAGE, 'and back');
});

test('the one whose name is being changed stays, however many join', async () => {
  const { join, read, ids: newest, guests } = setUp(100);
  let list = await read(null);
  const kept = list.guests[PAGE - 1].id;
  for (let i = 0; i < 20; i++) {
    for (let n = 0; n < 5; n++) join();
    list = await read(list, { kept }, i % 5 === 4);
    assert.deepEqual(ids(list), [...newest(PAGE), kept]);
  }
  list = await read(list, { kept, shown: guests.length });
  assert.deepEqual(ids(list), newest(guests.length));
});

test('while the list is held, who joins waits above its first one', async () => {
  const { join, read } = setUp(3);
  let list = await read(null);
  const [first] = list.guests;
  assert.deepEqual(fromOn(list.guests, first), list.guests);
  assert.deepEqual(fromOn(list.guests, undefined), list.guests);
  join({ at: first.joined_at });
  join();
  list = await read(list);
  assert.equal(list.guests.length - fromOn(list.guests, first).length, 2);
});

test('what was done to one guest shows without asking', async () => {
  const { read } = setUp(3);
  const list = await read(null);
  const changed = withGuest(list, { ...list.guests[1], blocked: true });
  assert.deepEqual(changed.guests.map(({ blocked }) => blocked), [false, true, false]);
  assert.equal(changed.guests[0], list.guests[0]);
});
