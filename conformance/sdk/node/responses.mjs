// The OpenAI SDK's Responses, legacy completions and embeddings.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { z } from 'zod';

import { CLOUD_KEY, INJECTION } from './checkpoints.mjs';
import { rejection } from './failures.mjs';
import { ALL_PASS } from './surface.mjs';

const MODEL = 'gpt-test';
const Weather = z.object({ city: z.string(), degrees: z.number() });
const tool = (name) => ({
  type: 'function',
  name,
  description: `The tool ${name}.`,
  strict: false,
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
});
const result = ({ call_id }, output) => ({ type: 'function_call_output', call_id, output });
const calls = ({ output }) => output.filter(({ type }) => type === 'function_call');

/**
 * @param door - the SDK over one base URL, as sdk.test.mjs puts it together
 * @param zodTextFormat - the helper of this version of it
 */
export function responses(door, zodTextFormat) {
  const { provider } = door;
  const modes = {
    whole: (api, request) => api.responses.create({ model: MODEL, ...request }),
    streamed: (api, request) => api.responses.stream({ model: MODEL, ...request }).finalResponse(),
  };
  for (const [mode, create] of Object.entries(modes)) {
    describe(`responses, ${mode}`, () => {
      test('a text', async () => {
        const client = door.client();
        const response = await create(client.api, { input: 'Hello' });
        assert.equal(response.output_text, 'You said: Hello');
        assert.deepEqual((await client.said()).verdict, ALL_PASS);
      });

      test('tools by previous_response_id', async () => {
        const client = door.client();
        const first = await create(client.api, { input: 'call get_weather {"city":"Oslo"}', tools: [tool('get_weather')] });
        const [call] = calls(first);
        assert.deepEqual(JSON.parse(call.arguments), { city: 'Oslo' });
        const second = await create(client.api, { input: [result(call, `rain\n${INJECTION}`)], previous_response_id: first.id });
        assert.match(second.output_text, /^The tool said: rain/);
        assert.ok(!second.output_text.includes(INJECTION));
        assert.equal((await client.said()).verdict.front, 'enforced');
        assert.equal(new Set(client.exchanges.map(({ headers }) => headers.get('x-mnemom-session'))).size, 1);
      });

      test('a withheld call', async () => {
        const client = door.client();
        const first = await create(client.api, { input: 'call delete_page {"city":"Oslo"}', tools: [tool('delete_page')] });
        assert.deepEqual(calls(first), []);
        assert.match(first.output_text, /delete_page/);
        const second = await create(client.api, { input: 'Never mind.', previous_response_id: first.id });
        assert.equal(second.status, 'completed');
        const sent = JSON.parse((await provider.requests()).at(-1).body).input;
        assert.match(sent[0].output, /did not run/);
      });

      test('a stopped turn', async () => {
        const client = door.client();
        const stopped = await create(client.api, { input: INJECTION });
        assert.ok(stopped.output_text.includes((await client.said()).requestID));
        assert.equal(stopped.incomplete_details.reason, 'content_filter');
        const after = await create(client.api, { input: 'Bread', previous_response_id: stopped.id });
        assert.equal(after.output_text, 'You said: Bread');
      });

      test('a secret', async () => {
        const client = door.client();
        const response = await create(client.api, { input: `aws_access_key_id = ${CLOUD_KEY}` });
        assert.ok(!JSON.stringify(response).includes(CLOUD_KEY));
        assert.equal((await client.said()).verdict.back, 'enforced');
      });
    });
  }

  test('a parsed response', async () => {
    const text = { format: zodTextFormat(Weather, 'weather') };
    const { api } = door.client();
    const response = await api.responses.parse({ model: MODEL, input: 'say {"city":"Oslo","degrees":4}', text });
    assert.deepEqual(response.output_parsed, { city: 'Oslo', degrees: 4 });
    const stopped = await api.responses.parse({ model: MODEL, input: INJECTION, text });
    assert.equal(stopped.output_parsed, null);
    assert.match(stopped.output[0].content[0].refusal, /stopped by the front checkpoint/);
  });

  test('a response in the background', async () => {
    const { api } = door.client();
    const queued = await api.responses.create({ model: MODEL, input: `aws_access_key_id = ${CLOUD_KEY}`, background: true });
    assert.equal(queued.status, 'queued');
    const done = await api.responses.retrieve(queued.id);
    assert.match(done.output_text, /REDACTED\]/);
    let kinds = [];
    for await (const event of await api.responses.retrieve(queued.id, { stream: true })) {
      assert.ok(!JSON.stringify(event).includes(CLOUD_KEY));
      kinds = [...kinds, event.type];
    }
    assert.equal(kinds.at(-1), 'response.completed');
    await api.responses.delete(queued.id);
  });

  test('a legacy completion', async () => {
    const { api } = door.client();
    const { choices } = await api.completions.create({ model: MODEL, prompt: 'Hello' });
    assert.equal(choices[0].text, 'You said: Hello');
    let text = '';
    for await (const chunk of await api.completions.create({ model: MODEL, prompt: INJECTION, stream: true })) {
      text += chunk.choices[0].text;
    }
    assert.match(text, /stopped by the front checkpoint/);
  });

  test('embeddings', async () => {
    const { api } = door.client();
    const { data } = await api.embeddings.create({ model: MODEL, input: ['Hello', 'Bread'] });
    assert.equal(data.length, 2);
    const error = await rejection(api.embeddings.create({ model: MODEL, input: INJECTION }));
    assert.equal(error.code, 'safe_house_blocked');
  });
}
