// The official Gemini SDK, through the gateway, unchanged.

import assert from 'node:assert/strict';
import { after, beforeEach, describe, test } from 'node:test';

import { ApiError, GoogleGenAI, Type } from '@google/genai';

import { CLOUD_KEY, INJECTION } from './checkpoints.mjs';
import { key } from './client.mjs';
import { start } from './servers.mjs';
import { ALL_PASS, settled } from './surface.mjs';

const MODEL = 'gemini-test';

const servers = await start();
after(() => servers.stop());
beforeEach(() => servers.provider.clear());

/** A client of its own, with nothing changed but the base URL. */
function connect(path, headers = {}) {
  return new GoogleGenAI({ apiKey: key(), httpOptions: { baseUrl: servers.gateway + path, headers } });
}

/** One turn, put together from its pieces. */
async function ask(api, streamed, contents, config = {}) {
  const request = { model: MODEL, contents, config };
  const chunks = [];
  if (streamed) {
    for await (const chunk of await api.models.generateContentStream(request)) {
      chunks.push(chunk);
    }
  } else {
    chunks.push(await api.models.generateContent(request));
  }
  const candidates = chunks.flatMap((chunk) => chunk.candidates ?? []);
  const parts = candidates.flatMap((candidate) => candidate.content?.parts ?? []);
  return {
    parts,
    text: parts.map((part) => part.text ?? '').join(''),
    calls: parts.flatMap((part) => part.functionCall ?? []),
    finish: candidates.at(-1)?.finishReason,
    said: await settled(new Headers(chunks[0].sdkHttpResponse.headers), servers.gateway),
  };
}

const declared = (...names) => ({
  tools: [{ functionDeclarations: names.map((name) => ({ name, description: `The tool ${name}.`, parameters: { type: Type.OBJECT } })) }],
});

for (const path of ['/gemini', '']) {
  for (const streamed of [false, true]) {
    describe(`gemini at "${path}", ${streamed ? 'streamed' : 'whole'}`, () => {
      test('a text', async () => {
        const { text, finish, said } = await ask(connect(path), streamed, 'Hello, ünïcode too');
        assert.deepEqual([text, finish], ['You said: Hello, ünïcode too', 'STOP']);
        assert.deepEqual(said.verdict, ALL_PASS);
      });

      test('calls and their results', async () => {
        const api = connect(path);
        const tools = declared('get_weather', 'get_time');
        const question = { role: 'user', parts: [{ text: 'call get_weather {"city":"Oslo"}\ncall get_time {}' }] };
        const called = await ask(api, streamed, [question], tools);
        assert.deepEqual(called.calls.map(({ name, args }) => [name, args]), [['get_weather', { city: 'Oslo' }], ['get_time', {}]]);
        const results = called.calls.map(({ id, name }) => ({ functionResponse: { id, name, response: { output: '4 degrees' } } }));
        const history = [question, { role: 'model', parts: called.parts }, { role: 'user', parts: results }];
        const answer = await ask(api, streamed, history, tools);
        assert.equal(answer.text, 'The tool said: 4 degrees');
        assert.equal(answer.said.session, called.said.session);
      });

      test('a flagged call waits for a human, the other one leaves', async () => {
        const order = 'call send_email {"to":"a"}\ncall get_time {}';
        const { calls, text, said } = await ask(connect(path), streamed, order, declared('send_email', 'get_time'));
        assert.deepEqual(calls.map(({ name }) => name), ['get_time']);
        assert.match(text, /waits for a human's approval/);
        assert.equal(said.verdict.autonomy, 'enforced');
      });

      test('a stopped prompt is a turn of the model', async () => {
        const { text, finish, said } = await ask(connect(path), streamed, INJECTION);
        assert.equal(finish, 'SAFETY');
        assert.match(text, /stopped by the front checkpoint/);
        assert.equal(said.verdict.front, 'enforced');
        assert.deepEqual(await servers.provider.requests(), []);
      });

      test('a stopped prompt for an answer by a schema has no text', async () => {
        const { text, finish } = await ask(connect(path), streamed, INJECTION, {
          responseMimeType: 'application/json',
          responseSchema: { type: Type.OBJECT },
        });
        assert.deepEqual([text, finish], ['', 'SAFETY']);
      });

      test('an answer by a schema', async () => {
        const config = { responseMimeType: 'application/json', responseSchema: { type: Type.OBJECT } };
        const { text } = await ask(connect(path), streamed, 'say {"city":"Oslo"}', config);
        assert.deepEqual(JSON.parse(text), { city: 'Oslo' });
      });

      test('a secret is redacted', async () => {
        const { text, said } = await ask(connect(path), streamed, `say The key is ${CLOUD_KEY} and that is all.`);
        assert.ok(!text.includes(CLOUD_KEY) && text.includes('REDACTED]') && text.includes('that is all.'), text);
        assert.equal(said.verdict.back, 'enforced');
      });

      test("the provider's errors", async () => {
        const api = connect(path, { 'X-Fake-Status': '400' });
        await assert.rejects(ask(api, streamed, 'Hello'), (error) => error instanceof ApiError && error.status === 400);
      });

      test('a chat', async () => {
        const chat = connect(path).chats.create({ model: MODEL });
        for (const message of ['one', 'two']) {
          let text = '';
          if (streamed) {
            for await (const chunk of await chat.sendMessageStream({ message })) {
              text += chunk.text ?? '';
            }
          } else {
            text = (await chat.sendMessage({ message })).text;
          }
          assert.equal(text, `You said: ${message}`);
        }
        const turns = chat.getHistory(true).map(({ role }) => role);
        assert.deepEqual([turns.at(0), turns.at(-1)], ['user', 'model']);
      });
    });
  }

  describe(`gemini at "${path}"`, () => {
    test('functions that the SDK calls by itself', async () => {
      const calls = [];
      const tool = {
        tool: async () => declared('get_weather').tools[0],
        callTool: async (made) => {
          calls.push(...made);
          return made.map(({ id, name }) => ({ functionResponse: { id, name, response: { output: 'rain' } } }));
        },
      };
      const { text } = await connect(path).models.generateContent({
        model: MODEL,
        contents: 'call get_weather {"city":"Oslo"}',
        config: { tools: [tool] },
      });
      assert.equal(text, 'The tool said: rain');
      assert.deepEqual(calls.map(({ args }) => args), [{ city: 'Oslo' }]);
    });

    test('counts', async () => {
      const api = connect(path);
      assert.ok((await api.models.countTokens({ model: MODEL, contents: 'Hello' })).totalTokens > 0);
      await assert.rejects(api.models.countTokens({ model: MODEL, contents: INJECTION }), (error) => error.status === 403);
    });

    test('models', async () => {
      const names = [];
      for await (const model of await connect(path).models.list()) {
        names.push(model.name);
      }
      assert.deepEqual(names, ['models/gemini-fake']);
    });
  });
}
