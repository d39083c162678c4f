// Flagged calls wait for a human: the official SDKs at the doors, and plain HTTP for the human.

import assert from 'node:assert/strict';
import { after, afterEach, beforeEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import * as Anthropic from '@anthropic-ai/sdk';
import * as OpenAI7 from 'openai';
import * as OpenAI6 from 'openai-6';

import { anthropic } from './anthropic.mjs';
import { checkSurfaces, connect } from './client.mjs';
import { openai } from './openai.mjs';
import { start } from './servers.mjs';
import { ADMIN } from './surface.mjs';

const NOTICE = /\bapr-[0-9a-f]{32}\b/g;
const MAIL = { to: 'x@example.com', body: 'Zoë, 1 < 2' };
const ORDER = `call send_email ${JSON.stringify(MAIL)}`;

const servers = await start({ tools: { rules: [{ tool: 'wipe', verdict: 'block' }] } });
after(() => servers.stop());
beforeEach(() => servers.provider.clear());
afterEach(checkSurfaces);

/** The human's requests: all need the administrator's token. */
async function human(method, path, body) {
  const headers = { 'X-Mnemom-Api-Key': ADMIN, 'Content-Type': 'application/json' };
  const response = await fetch(`${servers.gateway}/v1/approvals${path}`, { method, headers, body: body && JSON.stringify(body) });
  const answer = await response.json();
  assert.equal(response.status, 200, JSON.stringify(answer));
  return answer;
}

const approval = (id) => human('GET', `/${id}`);
const decide = (verb, id) => human('POST', `/${id}/${verb}`, { note: 'asked the customer' });

/** Waits for the result of a call to be seen: it is written behind the answer. */
async function delivered(id) {
  for (const deadline = Date.now() + 4_000; Date.now() < deadline; await sleep(20)) {
    const found = await approval(id);
    if (found.result_at) {
      return found;
    }
  }
  assert.fail('the result was not seen');
}

for (const door of [openai('openai 7', OpenAI7), openai('openai 6', OpenAI6), anthropic('anthropic', Anthropic)]) {
  for (const [mode, turn] of Object.entries(door.modes)) {
    describe(`${door.name}, ${mode}`, () => {
      const tools = ['send_email', 'get_time', 'wipe'].map(door.tool);

      /** A conversation of an agent of its own. Whatever is said and answered in it is its history. */
      function begin() {
        const client = connect(door.SDK, servers.gateway + door.paths[0]);
        const history = [];
        const goOn = async (...messages) => {
          history.push(...messages);
          const answer = await turn(client.api, history, { tools });
          history.push(door.assistant(answer));
          return { ...answer, said: await client.said() };
        };
        return {
          history,
          say: (text) => goOn(door.user(text)),
          give: (pairs) => goOn(...door.results(pairs)),
        };
      }

      /** Has a call flagged, and returns the id of its approval. */
      async function flagged(talk) {
        const { text, calls, finish, said } = await talk.say(ORDER);
        assert.deepEqual({ calls, finish }, { calls: [], finish: door.ended });
        assert.equal(said.verdict.autonomy, 'enforced');
        const ids = [...new Set(text.match(NOTICE))];
        assert.equal(ids.length, 1, text);
        assert.ok(text.includes(`${servers.gateway}/v1/approvals/${ids[0]}`), text);
        return ids[0];
      }

      test('an approved call is delivered, once and without the model', async () => {
        const talk = begin();
        const id = await flagged(talk);
        const waiting = await approval(id);
        assert.deepEqual([waiting.state, waiting.tool, waiting.arguments], ['pending', 'send_email', MAIL]);
        const before = [...talk.history];
        await decide('approve', id);

        await servers.provider.clear();
        const { calls, finish, said } = await talk.say('go on');
        assert.deepEqual(await servers.provider.requests(), [], 'the model is not asked');
        assert.deepEqual(calls, [{ id: waiting.call_id, name: 'send_email', args: MAIL }]);
        assert.equal(finish, door.called);
        assert.equal(said.verdict.autonomy, 'observed');
        const used = await approval(id);
        assert.deepEqual([used.state, used.consumed_by, used.result_at], ['consumed', said.requestID, null]);

        const { text } = await talk.give([[calls[0], 'it is sent']]);
        assert.equal(text, 'The tool said: it is sent');
        assert.equal((await delivered(id)).state, 'consumed');

        assert.deepEqual((await talk.say('go on')).calls, []);
        talk.history.splice(0, Infinity, ...before);
        const again = await talk.say('go on');
        assert.deepEqual([again.text, again.calls], ['You said: go on', []]);
      });

      test('a denied call is not delivered, and nobody is asked again', async () => {
        const talk = begin();
        const id = await flagged(talk);
        await decide('deny', id);
        const { text, calls } = await talk.say('go on');
        assert.deepEqual([text, calls], ['You said: go on', []]);
        const again = await talk.say(ORDER);
        assert.deepEqual([again.calls, again.finish, again.said.verdict.autonomy], [[], door.ended, 'enforced']);
        const { total } = await human('GET', `?agent=${again.said.agent}`);
        assert.equal(total, 1);
        assert.equal((await approval(id)).state, 'denied');
      });

      for (const orders of [['call get_time {}', ORDER, 'call wipe {}'], [ORDER, 'call wipe {}', 'call get_time {}']]) {
        const order = orders.map((line) => line.split(' ')[1]).join(', ');
        test(`parallel calls of every kind: ${order}`, async () => {
          const talk = begin();
          let answer = await talk.say(orders.join('\n'));
          assert.deepEqual(answer.calls.map(({ name }) => name), ['get_time']);
          assert.equal(answer.finish, door.called);
          assert.match(answer.text, /wipe/);
          const [id] = answer.text.match(NOTICE);
          await decide('approve', id);

          const given = []; // the loop of an agent: it runs what it is given until there is nothing
          while (answer.calls.length > 0 && given.length < 10) {
            given.push(...answer.calls.map(({ name }) => name));
            answer = await talk.give(answer.calls.map((call) => [call, 'noon']));
          }
          assert.equal(answer.text, 'The tool said: noon');
          assert.deepEqual(given, ['get_time', 'send_email']);
          await delivered(id);
          const [last] = (await servers.provider.requests()).slice(-1);
          const ids = [...last.body.matchAll(/"(?:tool_use_id|tool_call_id)":"([^"]+)"/g)].map(([, found]) => found);
          assert.equal(new Set(ids).size, 2);
          assert.equal(ids.length, 2, 'one result for each call');
        });
      }
    });
  }
}
