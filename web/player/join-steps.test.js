import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { comeIn } from './join-steps.js';

const room = { code: 'RAXN88', name: '年会', locked: false, app_only: false };
let asked;
let answers;

globalThis.history = { state: null, replaceState: (state, title, address) => { globalThis.location = new URL(address); } };
globalThis.fetch = async (path, { method, body }) => {
  asked.push(`${method} ${path} ${body ?? ''}`.trim());
  const [status, answer] = answers[path];
  return { status, ok: status < 300, json: async () => answer };
};

const refusal = (code) => ({ error: { code, message: code } });

beforeEach(() => {
  asked = [];
  globalThis.location = new URL('http://rain.test/r/RAXN88');
  answers = { '/api/rooms/RAXN88': [200, { room, round: null }], '/api/rooms/RAXN88/players/me': [200, { player: {} }], '/api/rooms/RAXN88/players/token': [201, { player: {} }] };
});

test('who is known comes in, who is not is asked for a nickname', async () => {
  assert.deepEqual(await comeIn('RAXN88'), { known: true });
  answers['/api/rooms/RAXN88/players/me'] = [401, refusal('unauthorized')];
  assert.deepEqual(await comeIn('RAXN88'), { known: false, room });
});

test('a token of the host\'s own app joins once, and is removed from the address at once', async () => {
  globalThis.location = new URL('http://rain.test/r/RAXN88?token=abc.def.ghi&from=app#check/x');
  assert.deepEqual(await comeIn('RAXN88'), { known: true });
  assert.deepEqual(asked, ['POST /api/rooms/RAXN88/players/token {"token":"abc.def.ghi"}']);
  assert.equal(location.href, 'http://rain.test/r/RAXN88?from=app#check/x');
  asked = [];
  await comeIn('RAXN88');
  assert.ok(!asked.some((call) => call.includes('token')));
});

test('a refused token is told, and is out of the address too', async () => {
  globalThis.location = new URL('http://rain.test/r/RAXN88?token=abc');
  answers['/api/rooms/RAXN88/players/token'] = [401, refusal('bad_token')];
  await assert.rejects(comeIn('RAXN88'), { code: 'bad_token' });
  assert.equal(location.search, '');
});

test('a token that the server could not answer is sent again, until it is answered', async () => {
  globalThis.location = new URL('http://rain.test/r/RAXN88?token=abc');
  for (const [status, code] of [[503, 'not_ready'], [429, 'too_many'], [500, 'fault']]) {
    answers['/api/rooms/RAXN88/players/token'] = [status, refusal(code)];
    await assert.rejects(comeIn('RAXN88'), { code, isTemporary: true });
  }
  assert.equal(location.search, '');
  answers['/api/rooms/RAXN88/players/token'] = [201, { player: {} }];
  assert.deepEqual(await comeIn('RAXN88'), { known: true });
  assert.equal(asked.filter((call) => call.includes('"token":"abc"')).length, 4);
  await comeIn('RAXN88');
  assert.equal(asked.filter((call) => call.includes('"token":"abc"')).length, 4);
});

test('who is blocked, and a server that fails, are not taken for a newcomer', async () => {
  for (const [status, code] of [[403, 'blocked'], [503, 'busy'], [500, 'fault']]) {
    answers['/api/rooms/RAXN88/players/me'] = [status, refusal(code)];
    await assert.rejects(comeIn('RAXN88'), { code });
  }
});
