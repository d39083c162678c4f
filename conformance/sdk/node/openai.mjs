// The official OpenAI SDK in the words that the tests share with the other one.

import assert from 'node:assert/strict';

const MODEL = 'gpt-test';

/** The door of one version of the SDK: its module. */
export function openai(name, module) {
  const { default: SDK, APIUserAbortError, APIConnectionTimeoutError } = module;
  return {
    name,
    SDK,
    paths: ['/openai/v1', '/v1'],
    format: 'openai',
    modes: { whole, chunks, helper },
    stopped: 'content_filter',
    ended: 'stop',
    called: 'tool_calls',
    errors: {
      Aborted: APIUserAbortError,
      TimedOut: APIConnectionTimeoutError,
      400: module.BadRequestError,
      401: module.AuthenticationError,
      429: module.RateLimitError,
      500: module.InternalServerError,
    },
    params,
    user: (content) => ({ role: 'user', content }),
    assistant,
    results: (pairs) => pairs.map(([call, content]) => ({ role: 'tool', tool_call_id: call.id, content })),
    tool,
    image: (base64) => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${base64}` } }),
    pieces,
    create: (api, messages, options) => api.chat.completions.create(params(messages), options),
  };
}

function params(messages, more = {}) {
  return { model: MODEL, messages, ...more };
}

function tool(name) {
  const parameters = { type: 'object', properties: { city: { type: 'string' } } };
  return { type: 'function', function: { name, description: `The tool ${name}.`, parameters } };
}

// The ways to take a turn. Each gives the answer in one shape.

async function whole(api, messages, more, options) {
  return answer(await api.chat.completions.create(params(messages, more), options));
}

/** The chunks as they come, put together as a client does that knows no helper. */
async function chunks(api, messages, more, options) {
  const stream = await api.chat.completions.create({ ...params(messages, more), stream: true }, options);
  const calls = [];
  let [text, finish] = ['', null];
  for await (const { choices } of stream) {
    for (const { delta, finish_reason } of choices) {
      text += delta.content ?? '';
      finish = finish_reason ?? finish;
      for (const { index, id, function: f } of delta.tool_calls ?? []) {
        assert.ok(index <= calls.length, 'stream indices are contiguous');
        calls[index] ??= { id: '', name: '', args: '' };
        calls[index].id += id ?? '';
        calls[index].name += f.name ?? '';
        calls[index].args += f.arguments ?? '';
      }
    }
  }
  return { text, calls: calls.map((c) => ({ ...c, args: JSON.parse(c.args) })), finish };
}

/** The text of a stream, piece by piece. */
async function* pieces(api, messages, options) {
  for await (const { choices } of await api.chat.completions.create({ ...params(messages), stream: true }, options)) {
    yield choices[0]?.delta.content ?? '';
  }
}

async function helper(api, messages, more, options) {
  return answer(await api.chat.completions.stream(params(messages, more), options).finalChatCompletion());
}

function answer(completion) {
  const [{ message, finish_reason }] = completion.choices;
  const called = message.tool_calls ?? [];
  const calls = called.map(({ id, function: f }) => ({ id, name: f.name, args: JSON.parse(f.arguments) }));
  return { text: message.content ?? '', calls, finish: finish_reason };
}

/** An answer as the history of a next turn. */
function assistant({ text, calls }) {
  const message = { role: 'assistant', content: text || null };
  if (calls.length > 0) {
    message.tool_calls = calls.map(({ id, name, args }) => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(args) },
    }));
  }
  return message;
}
