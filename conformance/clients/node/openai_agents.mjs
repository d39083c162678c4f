// The OpenAI Agents SDK for JavaScript, with its models for Chat Completions and for Responses.

import { Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, run, setTracingDisabled, tool } from '@openai/agents';
import OpenAI from 'openai';
import { ADDRESS, INSTRUCTIONS, serve } from './lines.mjs';

const MODELS = { openai: OpenAIChatCompletionsModel, responses: OpenAIResponsesModel };

async function answer(question, functions) {
  const client = new OpenAI({ baseURL: question.url, apiKey: question.key });
  const tools = Object.entries(functions).map(([name, { description, does }]) =>
    tool({ name, description, parameters: ADDRESS, execute: does }),
  );
  const model = new MODELS[question.door](client, 'gpt-4.1');
  const agent = new Agent({ name: 'reader', instructions: INSTRUCTIONS, model, tools });
  if (!question.stream) return [(await run(agent, question.prompt)).finalOutput];
  const pieces = [];
  const result = await run(agent, question.prompt, { stream: true });
  for await (const event of result) {
    if (event.type === 'run_item_stream_event' && event.name === 'tool_output') pieces.length = 0;
    if (event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta') pieces.push(event.data.delta);
  }
  await result.completed;
  if (result.finalOutput !== pieces.join('')) throw new Error(`streamed ${pieces.join('')}, but finally ${result.finalOutput}`);
  return pieces;
}

setTracingDisabled(true);
await serve(answer, '@openai/agents', 'openai');
