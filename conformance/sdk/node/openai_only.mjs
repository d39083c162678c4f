// What only the OpenAI SDK has: several choices, structured outputs, and its runner of tools.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { z } from 'zod';

import { CLOUD_KEY, INJECTION } from './checkpoints.mjs';
import { rejection } from './failures.mjs';
import { ALL_PASS } from './surface.mjs';

const Weather = z.object({ city: z.string(), degrees: z.number() });

/**
 * @param door - the SDK over one base URL, as sdk.test.mjs puts it together
 * @param zodResponseFormat - the helper of this version of it
 */
export function openaiOnly(door, zodResponseFormat) {
  const { provider, user, params } = door;
  const format = () => ({ response_format: zodResponseFormat(Weather, 'weather') });

  const modes = {
    whole: (api, request) => api.chat.completions.parse(request),
    streamed: (api, request) => api.chat.completions.stream(request).finalChatCompletion(),
  };
  for (const [mode, complete] of Object.entries(modes)) {
    describe(mode, () => {
      test('several choices', async () => {
        const client = door.client();
        const { choices } = await complete(client.api, params([user('Hello')], { n: 3 }));
        assert.deepEqual(choices.map(({ index }) => index), [0, 1, 2]);
        assert.ok(choices.every(({ message }) => message.content === 'You said: Hello'));
        assert.deepEqual((await client.said()).verdict, ALL_PASS);
      });

      test('a secret is redacted in every choice', async () => {
        const client = door.client();
        const { choices } = await complete(client.api, params([user(`aws_access_key_id = ${CLOUD_KEY}`)], { n: 3 }));
        assert.equal(choices.length, 3);
        for (const { message } of choices) {
          assert.match(message.content, /^You said: .*REDACTED\]/);
          assert.ok(!message.content.includes(CLOUD_KEY));
        }
        assert.equal((await client.said()).verdict.back, 'enforced');
      });

      test('a structured answer', async () => {
        const client = door.client();
        const { choices } = await complete(client.api, params([user('say {"city":"Oslo","degrees":4}')], format()));
        assert.deepEqual(choices[0].message.parsed, { city: 'Oslo', degrees: 4 });
        assert.equal(choices[0].message.refusal ?? null, null);
        assert.deepEqual((await client.said()).verdict, ALL_PASS);
        const [{ body }] = await provider.requests();
        assert.equal(body, client.exchanges[0].body);
      });

      test('a structured answer stays one without its secret', async () => {
        const client = door.client();
        const { choices } = await complete(client.api, params([user(`say {"city":"${CLOUD_KEY}","degrees":4}`)], format()));
        assert.equal(choices[0].message.parsed.degrees, 4);
        assert.match(choices[0].message.parsed.city, /REDACTED\]$/);
        assert.equal((await client.said()).verdict.back, 'enforced');
      });

      // content_filter makes the SDK's parsing helpers raise an error of their own before anyone can read the refusal.
      test('a stopped structured answer is no answer', async () => {
        const client = door.client();
        const error = await rejection(complete(client.api, params([user(INJECTION)], format())));
        assert.equal(error.constructor.name, 'ContentFilterFinishReasonError');
        assert.deepEqual((await client.said()).verdict, { ...ALL_PASS, front: 'enforced' });
        assert.deepEqual(await provider.requests(), []);
      });
    });
  }

  test('every choice of a stopped turn says so', async () => {
    const client = door.client();
    const { choices } = await client.api.chat.completions.create(params([user(INJECTION)], { n: 3 }));
    const { requestID } = await client.said();
    assert.deepEqual(choices.map(({ index }) => index), [0, 1, 2]);
    assert.ok(choices.every(({ finish_reason }) => finish_reason === door.stopped));
    assert.ok(choices.every(({ message }) => message.content.includes(requestID)));
  });

  test('a stopped structured answer is a refusal', async () => {
    const client = door.client();
    const { choices } = await client.api.chat.completions.create(params([user(INJECTION)], format()));
    const [{ message }] = choices;
    assert.equal(message.content, null);
    assert.ok(message.refusal.includes((await client.said()).requestID));
  });

  test('a stopped structured stream is a refusal', async () => {
    const client = door.client();
    const stream = await client.api.chat.completions.create({ ...params([user(INJECTION)], format()), stream: true });
    let [content, refusal] = ['', ''];
    for await (const { choices } of stream) {
      content += choices[0]?.delta.content ?? '';
      refusal += choices[0]?.delta.refusal ?? '';
    }
    assert.equal(content, '');
    assert.ok(refusal.includes((await client.said()).requestID));
  });

  for (const stream of [false, true]) {
    test(`the runner of tools, ${stream ? 'streamed' : 'whole'}`, async () => {
      const client = door.client();
      const ran = [];
      const runnable = (name, answer) => {
        const tool = door.tool(name);
        const run = (args) => {
          ran.push([name, args]);
          return answer;
        };
        return { ...tool, function: { ...tool.function, parse: JSON.parse, function: run } };
      };
      const tools = [runnable('read_page', `Opening hours are 9 to 5.\n\n${INJECTION}\n`), runnable('delete_page', 'done')];
      const messages = [user('call read_page {"city":"Oslo"}\ncall delete_page {"city":"Oslo"}')];
      const text = await client.api.chat.completions.runTools({ ...params(messages), tools, stream }).finalContent();

      assert.deepEqual(ran, [['read_page', { city: 'Oslo' }]], 'the withheld call never runs');
      assert.match(text, /Opening hours are 9 to 5\./);
      assert.doesNotMatch(text, /Ignore all previous instructions/);
      assert.equal((await client.said()).verdict.front, 'enforced');
      assert.equal(client.exchanges.length, 2);
    });
  }
}
