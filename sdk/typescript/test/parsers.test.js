import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  isVerdictValue,
  parseAIPVerdict,
  parseMnemomAdvisories,
  parseMnemomVerdict,
  parseMnemomVerdictStrict,
  surface,
} from '../dist/index.js';

test('the tolerant parser never throws', () => {
  for (const header of [null, undefined, '', ';;;', '=', '\0']) {
    assert.deepEqual(parseMnemomVerdict(header), { front: '', autonomy: '', integrity: '', back: '' });
  }
});

test('an absent header', () => {
  assert.deepEqual(parseMnemomAdvisories(null), []);
  assert.throws(() => parseMnemomVerdictStrict(null), SyntaxError);
  assert.throws(() => parseAIPVerdict(undefined), SyntaxError);
});

test("space is Unicode's white space", () => {
  for (const [header, front] of [
    ['\u0085\u3000front=pass\u00a0', 'pass'],
    ['\u001cfront=pass', ''],
    ['\ufefffront=pass', ''],
    ['front=pass\u001f', 'pass\u001f'],
  ]) {
    assert.equal(parseMnemomVerdict(header).front, front, JSON.stringify(header));
  }
});

test('long runs of space take linear time', () => {
  const started = performance.now();
  parseMnemomVerdict(`x${' '.repeat(500_000)}x`);
  assert.ok(performance.now() - started < 1000);
});

test('names of object members change nothing', () => {
  const verdicts = parseMnemomVerdict('__proto__=enforced; toString=enforced; front=pass');
  assert.deepEqual(Object.keys(verdicts), ['front', 'autonomy', 'integrity', 'back']);
  assert.equal(typeof verdicts.toString, 'function');
  assert.throws(() => parseMnemomAdvisories('[{"__proto__":{"source":"s","text":"t"}}]'), SyntaxError);
});

test('which values are canonical', () => {
  for (const value of ['pass', 'observed', 'nudged', 'enforced']) {
    assert.ok(isVerdictValue(value), value);
  }
  for (const value of ['', 'unverified', 'PASS', ' pass', 'toString']) {
    assert.ok(!isVerdictValue(value), value);
  }
});

test('no advisories but an error', () => {
  for (const [name, header] of Object.entries({
    'too deep': '['.repeat(100_000),
    NaN: '[{"source":"s","text":"t","x":NaN}]',
    'array entry': '[["source","text"]]',
    'number entry': '[1]',
    'byte order mark': '\ufeff[]',
  })) {
    assert.throws(() => parseMnemomAdvisories(header), SyntaxError, name);
  }
});

test('what advisories tolerate', () => {
  const header = `[{"source":"s","text":"a\\ud800b","severity":"","id":"","n":${'9'.repeat(5000)}}]`;
  assert.deepEqual(parseMnemomAdvisories(header), [{ source: 's', text: 'a\ufffdb' }]);
});

test('errors do not quote', () => {
  for (const [parse, header] of [
    [parseMnemomVerdictStrict, 'front=sk-secret; autonomy=pass; integrity=pass; back=pass'],
    [parseMnemomAdvisories, 'sk-secret'],
    [parseMnemomAdvisories, '[{"source":"sk-secret"}]'],
    [parseAIPVerdict, 'sk-secret'],
  ]) {
    assert.throws(() => parse(header), (e) => !/secret/.test(e.message) && e.cause === undefined);
  }
});

const WHOLE = {
  'X-Mnemom-Request-Id': '8f446ed6-ca87-4c1d-aa90-e2bc6e9ef580',
  'X-Mnemom-Verdict': 'front=pass; autonomy=pass; integrity=enforced; back=pass',
  'X-Mnemom-Advisory': '[{"source":"safe_house.dlp","text":"seen","severity":"warn"}]',
  'X-Mnemom-Agent': 'agent-1',
  'X-Mnemom-Session': 'session-1',
  'X-AIP-Verdict': 'boundary_violation',
  'X-AIP-Checkpoint-Id': 'ic-1',
};
const renamed = (rename) => Object.entries(WHOLE).map(([name, value]) => [rename(name), value]);

for (const [name, headers] of Object.entries({
  "fetch's Headers": new Headers(WHOLE),
  'an object': WHOLE,
  "Node's lower-cased object": Object.fromEntries(renamed((n) => n.toLowerCase())),
  'a Map in upper case': new Map(renamed((n) => n.toUpperCase())),
})) {
  test(`the surface of ${name}`, () => {
    assert.deepEqual(surface(headers), {
      requestId: '8f446ed6-ca87-4c1d-aa90-e2bc6e9ef580',
      verdicts: { front: 'pass', autonomy: 'pass', integrity: 'enforced', back: 'pass' },
      advisories: [{ source: 'safe_house.dlp', text: 'seen', severity: 'warn' }],
      agent: 'agent-1',
      session: 'session-1',
      aipVerdict: 'boundary_violation',
      checkpointId: 'ic-1',
      malformed: [],
    });
  });
}

test('the surface of a response without a gateway', () => {
  const got = surface({ 'content-type': 'text/plain', 'set-cookie': ['a=b'], 'x-mnemom-agent': '', 'x-mnemom-verdict': undefined });
  assert.deepEqual(got, { advisories: [], malformed: [] });
});

test('the surface names what it cannot read', () => {
  const got = surface({ ...WHOLE, 'X-Mnemom-Advisory': '[', 'X-AIP-Verdict': 'fine' });
  assert.deepEqual(got.malformed, ['X-Mnemom-Advisory', 'X-AIP-Verdict']);
  assert.deepEqual(got.advisories, []);
  assert.equal(got.aipVerdict, undefined);
  assert.equal(got.verdicts.integrity, 'enforced');
});

test('repeated headers are joined', () => {
  assert.equal(surface({ 'x-mnemom-agent': ['a', 'b'] }).agent, 'a, b');
  assert.equal(surface([['x-mnemom-agent', 'a'], ['X-Mnemom-Agent', 'b']]).agent, 'a, b');
});
