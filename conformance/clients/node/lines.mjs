// A client as a program, as lines.py has it: questions and answers as lines of JSON.

import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { z } from 'zod';

export const INSTRUCTIONS = 'You are a careful assistant. You read pages for the user.';
export const ADDRESS = z.object({ url: z.string().describe("The page's address.") });

/** What the agent can do; `ran` keeps what it did. */
function functions(page, ran) {
  return {
    read_page: { description: 'Reads a page of the web.', does: ({ url }) => (ran.push(['read_page', url]), page) },
    delete_page: { description: 'Deletes a page of the web.', does: ({ url }) => (ran.push(['delete_page', url]), 'The page is gone.') },
  };
}

/** Answers questions by `answer(question, functions)`, which gives the pieces of the last text, until there are no more. */
export async function serve(answer, ...packages) {
  const say = (line) => process.stdout.write(JSON.stringify(line) + '\n');
  console.log = console.info = console.debug = console.error; // what a framework prints is no answer
  const version = (name) => JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url))).version;
  say(Object.fromEntries(packages.map((name) => [name, version(name)])));
  for await (const line of createInterface({ input: process.stdin })) {
    const question = JSON.parse(line);
    const ran = [];
    try {
      const pieces = await answer(question, functions(question.page, ran));
      say({ text: pieces.join(''), pieces: pieces.length, error: null, ran });
    } catch (error) {
      say({ text: '', pieces: 0, error: `${error.name}: ${error.message}`, ran });
    }
  }
}
