// Vercel's AI SDK, with its providers for Chat Completions, Responses, Anthropic and Gemini.

import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import { ADDRESS, INSTRUCTIONS, serve } from './lines.mjs';

const MODELS = {
  openai: (at) => createOpenAI(at).chat('gpt-4.1'),
  responses: (at) => createOpenAI(at).responses('gpt-4.1'),
  anthropic: (at) => createAnthropic(at)('claude-sonnet-4-5'),
  gemini: (at) => createGoogleGenerativeAI(at)('gemini-2.5-flash'),
};

async function answer(question, functions) {
  const named = Object.entries(functions).map(([name, { description, does }]) => [
    name,
    tool({ description, inputSchema: ADDRESS, execute: async (args) => does(args) }),
  ]);
  const ask = {
    model: MODELS[question.door]({ baseURL: question.url, apiKey: question.key }),
    system: INSTRUCTIONS,
    prompt: question.prompt,
    tools: Object.fromEntries(named),
    stopWhen: stepCountIs(4),
    maxRetries: 0,
  };
  if (!question.stream) return [(await generateText(ask)).text];
  const pieces = [];
  for await (const part of streamText({ ...ask, onError: () => {} }).fullStream) {
    if (part.type === 'tool-result') pieces.length = 0;
    if (part.type === 'text-delta') pieces.push(part.text);
    if (part.type === 'error') throw part.error;
  }
  return pieces;
}

await serve(answer, 'ai', '@ai-sdk/openai', '@ai-sdk/anthropic', '@ai-sdk/google');
