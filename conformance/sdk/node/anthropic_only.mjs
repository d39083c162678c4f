// What only the Anthropic SDK has: system prompts of their own, output formats, its betas and its runner of tools.

import { jsonSchemaOutputFormat } from '@anthropic-ai/sdk/helpers/json-schema';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { z } from 'zod';

import { CLOUD_KEY, INJECTION } from './checkpoints.mjs';
import { key } from './client.mjs';
import { ALL_PASS, surface } from './surface.mjs';

const FORMATS = {
  'a zod schema': zodOutputFormat(z.object({ city: z.string(), degrees: z.number() })),
  'a JSON schema': jsonSchemaOutputFormat({
    type: 'object',
    properties: { city: { type: 'string' }, degrees: { type: 'number' } },
    required: ['city', 'degrees'],
    additionalProperties: false,
  }),
};

/** @param door - the SDK over one base URL, as sdk.test.mjs puts it together */
export function anthropicOnly(door) {
  const { provider, user, params } = door;

  for (const [shape, system] of [
    ['a string', 'Be brief.'],
    ['blocks', [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }]],
  ]) {
    test(`a system prompt in ${shape} reaches the model as it is`, async () => {
      const client = door.client();
      await client.api.messages.create(params([user('Hello')], { system }));
      const [{ body }] = await provider.requests();
      assert.equal(body, client.exchanges[0].body);
      assert.deepEqual((await client.said()).verdict, ALL_PASS);
    });
  }

  const modes = {
    whole: (api, request) => api.messages.parse(request),
    streamed: (api, request) => api.messages.stream(request).finalMessage(),
  };
  for (const [mode, complete] of Object.entries(modes)) {
    describe(mode, () => {
      for (const [kind, format] of Object.entries(FORMATS)) {
        test(`a structured answer by ${kind}`, async () => {
          const client = door.client();
          const asked = params([user('say {"city":"Oslo","degrees":4}')], { output_config: { format } });
          assert.deepEqual((await complete(client.api, asked)).parsed_output, { city: 'Oslo', degrees: 4 });
          assert.deepEqual((await client.said()).verdict, ALL_PASS);
          const [{ body }] = await provider.requests();
          assert.equal(body, client.exchanges[0].body);
        });

        test(`a structured answer by ${kind} stays one without its secret`, async () => {
          const client = door.client();
          const asked = params([user(`say {"city":"${CLOUD_KEY}","degrees":4}`)], { output_config: { format } });
          const { parsed_output } = await complete(client.api, asked);
          assert.equal(parsed_output.degrees, 4);
          assert.match(parsed_output.city, /REDACTED\]$/);
          assert.equal((await client.said()).verdict.back, 'enforced');
        });
      }

      // The SDK's parsing helpers raise an error for a text that is no JSON, so the notice stands beside the texts.
      test('a stopped structured answer is a refusal', async () => {
        const client = door.client();
        const asked = params([user(INJECTION)], { output_config: { format: FORMATS['a zod schema'] } });
        const message = await complete(client.api, asked);
        const { verdict, requestID } = await client.said();
        assert.deepEqual(message.content, []);
        assert.equal(message.parsed_output, null);
        assert.equal(message.stop_reason, 'refusal');
        assert.ok(message.stop_details.explanation.includes(requestID));
        assert.equal(verdict.front, 'enforced');
        assert.deepEqual(await provider.requests(), []);
      });
    });
  }

  test('a stopped structured answer that nobody parses is a refusal', async () => {
    const client = door.client();
    const { parse, ...format } = FORMATS['a zod schema'];
    const message = await client.api.messages.create(params([user(INJECTION)], { output_config: { format } }));
    const { requestID } = await client.said();
    assert.equal(message.stop_reason, 'refusal');
    assert.deepEqual(message.content, []);
    assert.ok(message.stop_details.explanation.includes(requestID));
  });

  test('the response headers of a stream', async () => {
    const client = door.client();
    const { data, response } = await client.api.messages.stream(params([user(INJECTION)])).withResponse();
    assert.deepEqual(surface(response.headers).verdict, { ...ALL_PASS, front: 'enforced' });
    assert.equal((await data.finalMessage()).stop_reason, 'refusal');
  });

  test('a bearer token in place of a key', async () => {
    const authToken = key();
    const client = door.client({ apiKey: null, authToken });
    await client.api.messages.create(params([user('Hello')]));
    assert.deepEqual((await client.said()).verdict, ALL_PASS);
    const [{ headers }] = await provider.requests();
    assert.deepEqual(headers.Authorization, [`Bearer ${authToken}`]);
  });

  test('a beta keeps its header', async () => {
    const client = door.client();
    await client.api.beta.messages.create({ ...params([user('Hello')]), betas: ['a-beta-2026-01-01'] });
    assert.deepEqual((await client.said()).verdict, ALL_PASS);
    const [{ headers }] = await provider.requests();
    assert.deepEqual(headers['Anthropic-Beta'], ['a-beta-2026-01-01']);
  });

  for (const stream of [false, true]) {
    test(`the runner of tools, ${stream ? 'streamed' : 'whole'}`, async () => {
      const client = door.client();
      const ran = [];
      const runnable = (name, answer) => {
        const run = (args) => {
          ran.push([name, args]);
          return answer;
        };
        return { ...door.tool(name), parse: (input) => input, run };
      };
      const tools = [runnable('read_page', `Opening hours are 9 to 5.\n\n${INJECTION}\n`), runnable('delete_page', 'done')];
      const messages = [user('call read_page {"city":"Oslo"}\ncall delete_page {"city":"Oslo"}')];
      const { content } = await client.api.beta.messages.toolRunner({ ...params(messages), tools, stream }).runUntilDone();

      assert.deepEqual(ran, [['read_page', { city: 'Oslo' }]], 'the withheld call never runs');
      assert.match(content[0].text, /Opening hours are 9 to 5\./);
      assert.doesNotMatch(content[0].text, /Ignore all previous instructions/);
      assert.equal((await client.said()).verdict.front, 'enforced');
      assert.equal(client.exchanges.length, 2);
    });
  }
}
