// What an SDK makes of failures: of the provider's, of the caller's, and of the line between.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';

import { key } from './client.mjs';
import { ALL_PASS, surface } from './surface.mjs';

const SOON = 10_000; // milliseconds: far less than any delay or timeout here

/** @param door - an SDK over one base URL, as sdk.test.mjs puts it together */
export function failures(door) {
  const { provider, user, errors } = door;
  const hello = [user('Hello')];
  const long = [user('These are the words of an answer that has a good many of them. '.repeat(10))];
  const bare = () => new door.SDK({ baseURL: door.bare, apiKey: key(), maxRetries: 0 });

  for (const [mode, turn] of Object.entries(door.modes)) {
    describe(mode, () => {
      for (const status of [400, 401, 429, 500]) {
        test(`the provider's ${status} is the SDK's own error`, async () => {
          const client = door.client();
          const error = await rejection(turn(client.api, hello, {}, { headers: { 'X-Fake-Status': String(status) } }));
          assert.ok(error instanceof errors[status], error);
          assert.equal(error.status, status);
          assert.match(error.message, new RegExp(`the provider says ${status}`));
          assert.deepEqual(surface(error.headers).verdict, ALL_PASS);
          assert.deepEqual((await client.said()).verdict, ALL_PASS);
          assert.equal((await provider.requests()).length, 1);
        });
      }

      for (const status of [429, 500]) {
        test(`the SDK's own retries after ${status}`, async () => {
          const client = door.client({ maxRetries: 2 });
          const headers = {
            'X-Fake-Status': String(status),
            'X-Fake-Times': '2',
            'X-Fake-Case': randomUUID(),
            'X-Fake-Retry-After': '0',
          };
          const { text } = await turn(client.api, hello, {}, { headers });
          assert.equal(text, 'You said: Hello');
          const seen = await provider.requests();
          assert.deepEqual(seen.map((r) => r.headers['X-Stainless-Retry-Count'][0]), ['0', '1', '2']);
          assert.deepEqual(client.exchanges.map((x) => x.status), [status, status, 200]);
          const said = client.exchanges.map((x) => surface(x.headers));
          assert.deepEqual(said.map(({ verdict }) => verdict), [ALL_PASS, ALL_PASS, ALL_PASS]);
          assert.equal(new Set(said.map(({ requestID }) => requestID)).size, 3);
          assert.deepEqual(client.exchanges.slice(0, 2).map((x) => x.headers.get('retry-after')), ['0', '0']);
        });
      }

      // -1: before the first byte; the others: within the answer.
      for (const bytes of [-1, 60, 500]) {
        test(`an answer that breaks off after ${bytes} bytes is an error, as it is without the gateway`, async () => {
          const cut = { headers: { 'X-Fake-Drop-After': String(bytes) } };
          await rejection(turn(bare(), long, {}, cut), SOON);
          const client = door.client();
          await rejection(turn(client.api, long, {}, cut), SOON);
          await client.said();
          assert.equal((await turn(client.api, hello)).text, 'You said: Hello');
        });
      }

      test('a caller that gives up is let go at once', async () => {
        const client = door.client();
        const controller = new AbortController();
        const headers = { 'X-Fake-Delay': '40s' };
        const pending = turn(client.api, hello, {}, { headers, signal: controller.signal });
        const caught = rejection(pending, SOON);
        await until(async () => (await provider.requests()).length === 1);
        controller.abort();
        assert.ok((await caught) instanceof errors.Aborted);
        assert.equal((await turn(client.api, hello)).text, 'You said: Hello');
      });

      test("the SDK's own timeout", async () => {
        const client = door.client();
        const late = turn(client.api, hello, {}, { headers: { 'X-Fake-Delay': '40s' }, timeout: 200 });
        assert.ok((await rejection(late, SOON)) instanceof errors.TimedOut);
        assert.equal((await turn(client.api, hello)).text, 'You said: Hello');
      });

      test("a malformed request is refused in the provider's shape", async () => {
        const client = door.client();
        const error = await rejection(turn(client.api, [user(42)]));
        assert.ok(error instanceof errors[400], error);
        assert.ok((error.error.error ?? error.error).message);
        await client.said();
        assert.deepEqual(await provider.requests(), []);
      });
    });
  }

  test('what came before a stream broke off reaches the caller', async () => {
    const cut = { headers: { 'X-Fake-Drop-After': '12000' } };
    const want = await untilBroken(door.pieces(bare(), long, cut));
    const got = await untilBroken(door.pieces(door.client().api, long, cut));
    assert.ok(want.length > 100, want);
    assert.equal(got, want);
  });
}

/** What a promise rejects with, which it must within a time in milliseconds. */
export async function rejection(promise, within = 10_000) {
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, within, `nothing happened for ${within} ms`);
  });
  const outcome = await Promise.race([promise.then(() => 'it came to a good end', (error) => ({ error })), late]);
  clearTimeout(timer);
  assert.equal(typeof outcome, 'object', outcome);
  return outcome.error;
}

async function until(condition) {
  for (const deadline = Date.now() + SOON; !(await condition()); ) {
    assert.ok(Date.now() < deadline, 'it did not happen in time');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** The text of a stream that breaks off. */
async function untilBroken(pieces) {
  let text = '';
  const all = async () => {
    for await (const piece of pieces) {
      text += piece;
    }
  };
  await rejection(all(), SOON);
  return text;
}
