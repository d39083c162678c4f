// Runs the vectors that the parsers of all languages share.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { parseAIPVerdict, parseMnemomAdvisories, parseMnemomVerdict, parseMnemomVerdictStrict } from '../dist/index.js';

const vectors = JSON.parse(readFileSync(new URL('../../../verdict/testdata/vectors.json', import.meta.url), 'utf8'));

const RANKS = { info: 1, warn: 2, critical: 3 };

/** Checks a result, or that there is none: want is undefined where the vector says error. */
function expect(parse, { header, error = false }, want) {
  assert.equal(want === undefined, error);
  if (error) {
    assert.throws(() => parse(header), SyntaxError);
  } else {
    assert.deepEqual(parse(header), want);
  }
}

test('every kind of vector is run', () => {
  assert.deepEqual(Object.keys(vectors).sort(), ['advisories', 'aip', 'parse_advisories', 'verdicts']);
  assert.ok(Object.values(vectors).every((cases) => cases.length > 0));
});

for (const c of vectors.verdicts) {
  test(`verdict: ${c.name}`, () => {
    assert.deepEqual(parseMnemomVerdict(c.header), c.tolerant);
    expect(parseMnemomVerdictStrict, c, c.strict);
  });
}

for (const c of vectors.parse_advisories) {
  test(`advisories: ${c.name}`, () => expect(parseMnemomAdvisories, c, c.entries));
}

for (const c of vectors.aip) {
  test(`aip: ${JSON.stringify(c.header)}`, () => expect(parseAIPVerdict, c, c.word));
}

// These vectors are a formatter's: entries in, header out. Long texts and sources come back shortened.
for (const c of vectors.advisories) {
  test(`what a gateway writes reads back: ${c.name}`, () => {
    const rank = (entry) => RANKS[entry.severity] ?? 0;
    const written = [...c.entries].sort((a, b) => rank(b) - rank(a)).slice(0, 5);
    const read = parseMnemomAdvisories(c.header);
    assert.equal(read.length, written.length);
    for (const [i, got] of read.entries()) {
      const want = written[i];
      for (const member of ['source', 'text']) {
        const cut = got[member].endsWith('...') && want[member].startsWith(got[member].slice(0, -3));
        assert.ok(cut || got[member] === want[member], `${member} ${i}: ${got[member]}`);
      }
      assert.equal(got.severity, want.severity in RANKS ? want.severity : undefined);
      assert.ok(got.id === undefined || got.id === want.id);
    }
  });
}
