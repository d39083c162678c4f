// Upstreams by name, and keys that the gateway holds.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { connect, key } from './client.mjs';
import { rejection } from './failures.mjs';
import { HELD } from './servers.mjs';
import { ALL_PASS } from './surface.mjs';

/**
 * @param sdk - an SDK, as openai.mjs and anthropic.mjs describe it
 * @param servers - what servers.mjs started
 */
export function upstreams(sdk, { gateway, provider, second }) {
  const hello = [sdk.user('Hello')];
  const held = sdk.format === 'openai' ? 'held' : 'held-claude';
  const heldURL = `${gateway}/u/${held}${sdk.paths[1]}`;
  const anonymous = { headers: { Authorization: null, 'X-Api-Key': null } };

  for (const [mode, turn] of Object.entries(sdk.modes)) {
    describe(mode, () => {
      test('a caller of a gateway-held key may send any credential, and the provider gets the key', async () => {
        const mine = key();
        const client = connect(sdk.SDK, heldURL, { apiKey: mine });
        assert.equal((await turn(client.api, hello)).text, 'You said: Hello');
        assert.deepEqual((await client.said()).verdict, ALL_PASS);
        await assertOnlyKey(provider, HELD[held], mine);
      });

      test('a caller of a gateway-held key may send none', async () => {
        const client = connect(sdk.SDK, heldURL);
        assert.equal((await turn(client.api, hello, {}, anonymous)).text, 'You said: Hello');
        await client.said();
        await assertOnlyKey(provider, HELD[held], client.api.apiKey);
      });

      test('without any key the gateway refuses as the provider does', async () => {
        const client = connect(sdk.SDK, gateway + sdk.paths[0]);
        const error = await rejection(turn(client.api, hello, {}, anonymous));
        assert.ok(error instanceof sdk.errors[401], error);
        await client.said();
        assert.deepEqual(await provider.requests(), []);
      });

      test('an unknown gateway key is refused and goes no further', async () => {
        const client = connect(sdk.SDK, gateway + sdk.paths[0], { apiKey: 'mnm_unknown' });
        assert.ok((await rejection(turn(client.api, hello))) instanceof sdk.errors[401]);
        await client.said();
        assert.deepEqual(await provider.requests(), []);
      });

      if (sdk.format !== 'openai') {
        return; // the named upstream speaks OpenAI's format
      }

      test('an upstream by name', async () => {
        const client = connect(sdk.SDK, `${gateway}/u/second/v1`);
        const tools = [sdk.tool('delete_page'), sdk.tool('get_time')];
        const asked = [sdk.user('call delete_page {"city":"Oslo"}\ncall get_time {"city":"Oslo"}')];
        const { calls } = await turn(client.api, asked, { tools });
        assert.deepEqual(calls.map(({ name }) => name), ['get_time']);
        assert.deepEqual((await client.said()).verdict, { ...ALL_PASS, autonomy: 'enforced' });
        const [sent] = await second.requests();
        assert.equal(sent.body, client.exchanges[0].body);
        assert.deepEqual(sent.headers.Authorization, [`Bearer ${client.api.apiKey}`]);
        assert.deepEqual(await provider.requests(), []);
      });
    });
  }

  test('an upstream that nobody configured is not found', async () => {
    const client = connect(sdk.SDK, `${gateway}/u/stranger${sdk.paths[1]}`);
    assert.equal((await rejection(sdk.create(client.api, hello))).status, 404);
    await client.said();
    assert.deepEqual(await provider.requests(), []);
  });
}

/** Checks that the one request the provider got carries this key, and that no header of it holds the other. */
async function assertOnlyKey(provider, held, other) {
  const [{ headers }, ...more] = await provider.requests();
  assert.deepEqual(more, []);
  const sent = [...(headers.Authorization ?? []), ...(headers['X-Api-Key'] ?? [])];
  assert.deepEqual(sent.map((value) => value.replace(/^Bearer /, '')), [held]);
  assert.ok(!JSON.stringify(headers).includes(other));
}
