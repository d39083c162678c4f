// The official SDKs, through the gateway, unchanged. Every case runs over every base URL that the SDK may be given.

import assert from 'node:assert/strict';
import { after, afterEach, beforeEach, describe, test } from 'node:test';

import * as Anthropic from '@anthropic-ai/sdk';
import * as OpenAI7 from 'openai';
import * as OpenAI6 from 'openai-6';
import * as helpers6 from 'openai-6/helpers/zod';
import * as helpers7 from 'openai/helpers/zod';

import { anthropic } from './anthropic.mjs';
import { anthropicOnly } from './anthropic_only.mjs';
import { CLOUD_KEY, INJECTION, checkpoints } from './checkpoints.mjs';
import { checkSurfaces, connect } from './client.mjs';
import { conversations } from './conversations.mjs';
import { failures } from './failures.mjs';
import { openai } from './openai.mjs';
import { openaiOnly } from './openai_only.mjs';
import { responses } from './responses.mjs';
import { HELD, start } from './servers.mjs';
import { upstreams } from './upstreams.mjs';

const servers = await start();
after(() => servers.stop());
beforeEach(() => Promise.all([servers.provider.clear(), servers.second.clear()]));
afterEach(checkSurfaces);

const openaiOwn = ({ zodResponseFormat, zodTextFormat }) => (door) => {
  openaiOnly(door, zodResponseFormat);
  responses(door, zodTextFormat);
};
const doors = [
  { ...openai('openai 7', OpenAI7), own: openaiOwn(helpers7) },
  { ...openai('openai 6', OpenAI6), own: openaiOwn(helpers6) },
  { ...anthropic('anthropic', Anthropic), own: anthropicOnly },
];

for (const sdk of doors) {
  for (const path of sdk.paths) {
    const door = {
      ...sdk,
      provider: servers.provider,
      bare: servers.provider[sdk.format] + sdk.paths[1], // the base URL of the provider itself
      client: (options) => connect(sdk.SDK, servers.gateway + path, options),
    };
    describe(`${sdk.name} over ${path || '/'}`, () => {
      conversations(door);
      checkpoints(door);
      failures(door);
      sdk.own(door);
    });
  }
  describe(`${sdk.name} over other upstreams`, () => upstreams(sdk, servers));
}

test('the log of all this holds no prompt, no key and no panic', () => {
  const log = servers.log();
  assert.match(log, /"front":"enforced"/, 'the exchanges are logged');
  for (const word of [INJECTION, CLOUD_KEY, ...Object.values(HELD), 'panic']) {
    assert.ok(!log.includes(word), word);
  }
  assert.doesNotMatch(log, /sk-[0-9a-f]{32}/);
});
