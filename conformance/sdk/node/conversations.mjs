// What must work as it does without a gateway.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';

import { ALL_PASS, FORGED, assertUnforged, surface } from './surface.mjs';

/** @param door - an SDK over one base URL, as sdk.test.mjs puts it together */
export function conversations(door) {
  const { provider, user } = door;

  for (const [mode, turn] of Object.entries(door.modes)) {
    describe(mode, () => {
      test('chat', async () => {
        const client = door.client();
        const { text, calls, finish } = await turn(client.api, [user('Hello there, ünïcode too')]);
        assert.equal(text, 'You said: Hello there, ünïcode too');
        assert.deepEqual({ calls, finish }, { calls: [], finish: door.ended });
        const { verdict, advisories, agent, session } = await client.said();
        assert.deepEqual({ verdict, advisories }, { verdict: ALL_PASS, advisories: [] });
        assert.ok(agent && session);
        await assertSentAsItWas(client, provider);
      });

      test('the next turn keeps its session', async () => {
        const client = door.client();
        const messages = [user('A first question')];
        const answer = await turn(client.api, messages);
        const first = await client.said();
        await turn(client.api, [...messages, door.assistant(answer), user('A second question')]);
        const second = await client.said();
        assert.deepEqual([second.agent, second.session], [first.agent, first.session]);
        assert.notEqual(second.requestID, first.requestID);
      });

      test('a tool round trip', async () => {
        const client = door.client();
        const tools = [door.tool('get_weather')];
        const messages = [user('call get_weather {"city":"Oslo"}')];
        const called = await turn(client.api, messages, { tools });
        assert.equal(called.finish, door.called);
        assert.deepEqual(called.calls.map(({ name, args }) => [name, args]), [['get_weather', { city: 'Oslo' }]]);
        assert.deepEqual((await client.said()).verdict, ALL_PASS);

        messages.push(door.assistant(called), ...door.results([[called.calls[0], '4 degrees and rain']]));
        const { text } = await turn(client.api, messages, { tools });
        assert.equal(text, 'The tool said: 4 degrees and rain');
        assert.deepEqual((await client.said()).verdict, ALL_PASS);
        await assertSentAsItWas(client, provider);
      });

      test('parallel calls', async () => {
        const client = door.client();
        const tools = [door.tool('get_weather'), door.tool('get_time')];
        const messages = [user('call get_weather {"city":"Oslo"}\ncall get_time {"city":"Oslo"}')];
        const called = await turn(client.api, messages, { tools });
        assert.deepEqual(called.calls.map(({ name }) => name), ['get_weather', 'get_time']);
        assert.equal(new Set(called.calls.map(({ id }) => id)).size, 2);

        const results = door.results(called.calls.map((call) => [call, `answer of ${call.name}`]));
        const { text } = await turn(client.api, [...messages, door.assistant(called), ...results], { tools });
        assert.match(text, /answer of get_time/);
        assert.deepEqual((await client.said()).verdict, ALL_PASS);
        await assertSentAsItWas(client, provider);
      });

      test('an image passes, and the advisory says that nobody looked at it', async () => {
        const client = door.client();
        const parts = [{ type: 'text', text: 'What is this?' }, door.image(randomBytes(3_000).toString('base64'))];
        const { text } = await turn(client.api, [user(parts)]);
        assert.equal(text, 'You said: What is this?');
        assert.ok((await client.said()).advisories.some(({ source }) => source === 'gatehouse.coverage'));
        await assertSentAsItWas(client, provider);
      });

      test('unknown fields, headers and queries pass', async () => {
        const client = door.client();
        const options = { headers: { 'X-Future': 'yes' }, query: { x_future: 'a b&c' } };
        await turn(client.api, [user('Hello')], { x_future: { exact: 1.5 } }, options);
        const [sent] = await assertSentAsItWas(client, provider);
        assert.deepEqual(JSON.parse(sent.body).x_future, { exact: 1.5 });
        assert.match(sent.url, /\?x_future=a(%20|\+)b%26c$/);
        assert.deepEqual(sent.headers['X-Future'], ['yes']);
      });

      test('forged headers are ignored', async () => {
        const client = door.client();
        await turn(client.api, [user('Hello')], {}, { headers: FORGED });
        const { verdict, advisories, requestID } = await client.said();
        assert.deepEqual({ verdict, advisories }, { verdict: ALL_PASS, advisories: [] });
        assert.notEqual(requestID, 'forged');
        const [sent] = await provider.requests();
        assertUnforged(sent);
      });
    });
  }

  test('the response headers are there for callers who ask for them', async () => {
    const { api } = door.client();
    const { data, response } = await door.create(api, [user('Hello')]).withResponse();
    assert.ok(data.id);
    assert.deepEqual(surface(response.headers).verdict, ALL_PASS);

    const raw = await door.create(api, [user('Hello')]).asResponse();
    assert.deepEqual(surface(raw.headers).verdict, ALL_PASS);
    assert.equal((await raw.json()).id.length > 0, true);
  });

  test('the list of models', async () => {
    const client = door.client();
    const ids = [];
    for await (const { id } of client.api.models.list()) {
      ids.push(id);
    }
    assert.deepEqual(ids, [door.format === 'openai' ? 'gpt-fake' : 'claude-fake']);
    await client.said();
  });
}

/** Checks that the provider got what the SDK sent, byte for byte, and returns its requests. */
async function assertSentAsItWas({ exchanges }, provider) {
  const sent = await provider.requests();
  assert.deepEqual(sent.map(({ body }) => body), exchanges.map(({ body }) => body));
  assert.deepEqual(sent.map(({ url }) => new URL(url, 'http://provider').search), exchanges.map(({ query }) => query));
  return sent;
}
