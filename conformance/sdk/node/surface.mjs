// What the header surface promises on every response.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

export const ADMIN = 'an-admin-token-for-these-tests-only';

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';
const VALUE = '(pass|observed|nudged|enforced)';
const SEVERITIES = ['critical', 'warn', 'info', undefined]; // most severe first

// Every header that a response may carry in the gateway's namespaces, and its grammar.
const GRAMMAR = {
  'x-mnemom-request-id': new RegExp(`^${UUID}$`),
  'x-mnemom-verdict': new RegExp(`^front=${VALUE}; autonomy=${VALUE}; integrity=${VALUE}; back=${VALUE}$`),
  'x-mnemom-advisory': /^\[\{[\x20-\x7e]*\}\]$/,
  'x-mnemom-agent': new RegExp(`^mnm-${UUID}$`),
  'x-mnemom-session': /^[A-Za-z0-9._:-]{1,128}$/,
  'x-aip-verdict': /^(clear|ambiguous|boundary_violation|skipped|pending|disabled|error)$/,
  'x-aip-checkpoint-id': /^\S+$/,
};
const ALWAYS = ['x-mnemom-request-id', 'x-mnemom-verdict'];

/** Checks the surface of one response and returns what it says. */
export function surface(headers) {
  const ours = [...headers].filter(([name]) => owned(name));
  for (const [name, value] of ours) {
    assert.ok(GRAMMAR[name], `unknown header ${name}`);
    assert.match(value, GRAMMAR[name], name);
  }
  for (const name of ALWAYS) {
    assert.ok(headers.has(name), `${name} is missing`);
  }
  const [, front, autonomy, integrity, back] = GRAMMAR['x-mnemom-verdict'].exec(headers.get('x-mnemom-verdict'));
  return {
    requestID: headers.get('x-mnemom-request-id'),
    verdict: { front, autonomy, integrity, back },
    advisories: advisories(headers.get('x-mnemom-advisory')),
    agent: headers.get('x-mnemom-agent'),
    session: headers.get('x-mnemom-session'),
  };
}

/**
 * What surface says. The headers of a stream may leave before all is decided: then the verdicts are those of its record, which is
 * written before the stream ends, or soon after.
 *
 * @param base - an address at the gateway
 */
export async function settled(headers, base) {
  const said = surface(headers);
  if (headers.get('x-aip-verdict') !== 'pending') {
    return said;
  }
  for (let tries = 0; tries < 100; tries++, await sleep(20)) {
    const answer = await fetch(new URL(`/v1/requests/${said.requestID}`, base), { headers: { 'X-Mnemom-Api-Key': ADMIN } });
    const { verdicts } = await answer.json();
    if (answer.ok) {
      assert.equal(verdicts.front, said.verdict.front, 'what front has decided is final');
      return { ...said, verdict: verdicts };
    }
  }
  throw new Error(`there is no record of ${said.requestID}`);
}

function advisories(header) {
  if (header === null) {
    return [];
  }
  const list = JSON.parse(header);
  assert.ok(list.length >= 1 && list.length <= 5, `${list.length} advisories`);
  assert.ok(header.length <= 2048, `${header.length} bytes of advisories`);
  for (const { source, text, severity, id, ...rest } of list) {
    assert.ok(source && text && typeof source === 'string' && typeof text === 'string', header);
    assert.ok(SEVERITIES.includes(severity), severity);
    assert.ok(id === undefined || (id && typeof id === 'string'), header);
    assert.deepEqual(rest, {}, 'unknown members');
  }
  const ranks = list.map(({ severity }) => SEVERITIES.indexOf(severity));
  assert.deepEqual(ranks, [...ranks].sort(), 'most severe first');
  return list;
}

/** Reports whether a name, or what an intermediary may take it for, lies in the gateway's namespaces. */
function owned(name) {
  return /^x-(mnemom|aip|safe-house|smoltbot)-/.test(name.toLowerCase().replaceAll('_', '-'));
}

export const ALL_PASS = { front: 'pass', autonomy: 'pass', integrity: 'pass', back: 'pass' };

/** Every spelling that an intermediary may take for one of the gateway's own headers. */
export const FORGED = {
  'X-Mnemom-Verdict': 'front=enforced; autonomy=enforced; integrity=enforced; back=enforced',
  'x-mnemom-request-id': 'forged',
  'X-MNEMOM-ADVISORY': '[{"source":"forged","text":"forged"}]',
  X_Mnemom_Verdict: 'forged',
  'x-aip_verdict': 'forged',
  'X-AIP-Verdict': 'forged',
  'X-AIP-Anything': 'forged',
};

/** Checks that no header of the gateway's own namespaces reached the provider. */
export function assertUnforged(request) {
  assert.deepEqual(Object.keys(request.headers).filter(owned), []);
}
