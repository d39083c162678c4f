// The official Anthropic SDK in the words that the tests share with the other one.

import assert from 'node:assert/strict';

const MODEL = 'claude-test';

/** The door of the SDK: its module. */
export function anthropic(name, module) {
  const { default: SDK, APIUserAbortError, APIConnectionTimeoutError } = module;
  return {
    name,
    SDK,
    paths: ['/anthropic', ''],
    format: 'anthropic',
    modes: { whole, events, helper },
    stopped: 'refusal',
    ended: 'end_turn',
    called: 'tool_use',
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
    assistant: ({ content }) => ({ role: 'assistant', content }),
    results: (pairs) => [
      { role: 'user', content: pairs.map(([call, content]) => ({ type: 'tool_result', tool_use_id: call.id, content })) },
    ],
    tool,
    image: (base64) => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64 } }),
    pieces,
    create: (api, messages, options) => api.messages.create(params(messages), options),
  };
}

function params(messages, more = {}) {
  return { model: MODEL, max_tokens: 200, messages, ...more };
}

function tool(name) {
  const input_schema = { type: 'object', properties: { city: { type: 'string' } } };
  return { name, description: `The tool ${name}.`, input_schema };
}

// The ways to take a turn. Each gives the answer in one shape.

async function whole(api, messages, more, options) {
  return answer(await api.messages.create(params(messages, more), options));
}

/** The events as they come, put together as a client does that knows no helper. */
async function events(api, messages, more, options) {
  const stream = await api.messages.create({ ...params(messages, more), stream: true }, options);
  let message;
  let input;
  for await (const event of stream) {
    const block = message?.content[event.index];
    switch (event.type) {
      case 'message_start':
        message = structuredClone(event.message);
        break;
      case 'content_block_start':
        assert.equal(event.index, message.content.length, 'stream indices are contiguous');
        message.content.push({ ...event.content_block });
        input = '';
        break;
      case 'content_block_delta':
        if (event.delta.type === 'text_delta') {
          block.text += event.delta.text;
        }
        input += event.delta.partial_json ?? '';
        break;
      case 'content_block_stop':
        if (block.type === 'tool_use') {
          block.input = JSON.parse(input);
        }
        break;
      case 'message_delta':
        Object.assign(message, event.delta);
        Object.assign(message.usage, event.usage);
        break;
    }
  }
  return answer(message);
}

/** The text of a stream, piece by piece. */
async function* pieces(api, messages, options) {
  for await (const { delta } of await api.messages.create({ ...params(messages), stream: true }, options)) {
    yield delta?.text ?? '';
  }
}

async function helper(api, messages, more, options) {
  return answer(await api.messages.stream(params(messages, more), options).finalMessage());
}

function answer({ content, stop_reason }) {
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  const calls = content
    .filter((block) => block.type === 'tool_use')
    .map(({ id, name, input }) => ({ id, name, args: input }));
  return { text, calls, finish: stop_reason, content };
}
