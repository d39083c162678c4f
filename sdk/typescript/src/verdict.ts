import { trimSpace } from './space.js';

const CHECKPOINTS = ['front', 'autonomy', 'integrity', 'back'] as const;
const VALUES = ['pass', 'observed', 'nudged', 'enforced'] as const;

/** The four checkpoints, in the order of the header. */
export type Checkpoint = (typeof CHECKPOINTS)[number];

/**
 * What one checkpoint did, from weakest to strongest: `pass` (it ran and the exchange was clean), `observed` (something was
 * seen and left as it was), `nudged` (a warning was added), `enforced` (something was replaced, redacted, withheld or
 * refused).
 */
export type VerdictValue = (typeof VALUES)[number];

/**
 * One X-Mnemom-Verdict header as it was read: what each checkpoint did. A checkpoint that the header did not have is `''`,
 * and a value that is not a {@link VerdictValue} stands as it came; other gateways write `unverified` for an analysis that
 * did not come to an end.
 */
export type CheckpointVerdicts = Record<Checkpoint, VerdictValue | (string & {})>;

/** One X-Mnemom-Verdict header in its canonical form: four checkpoints, four known values. */
export type CanonicalVerdicts = Record<Checkpoint, VerdictValue>;

/** Reports whether a value is one of the four that a gateway writes. Ask it before trusting one that was read tolerantly. */
export function isVerdictValue(value: string): value is VerdictValue {
  return (VALUES as readonly string[]).includes(value);
}

/**
 * Reads an X-Mnemom-Verdict header as any client may: in any order, with any spacing around the pairs, skipping what it
 * does not know. The last of several pairs with one name counts, and names match case-sensitively. It never throws: a
 * header that is absent or is something else gives four empty values, none of which reads as `pass`.
 */
export function parseMnemomVerdict(headerValue: string | null | undefined): CheckpointVerdicts {
  const verdicts: CheckpointVerdicts = { front: '', autonomy: '', integrity: '', back: '' };
  for (const part of (headerValue ?? '').split(';')) {
    const pair = trimSpace(part);
    const equals = pair.indexOf('=');
    if (equals < 0) {
      continue;
    }
    const name = pair.slice(0, equals);
    if (isCheckpoint(name)) {
      verdicts[name] = pair.slice(equals + 1);
    }
  }
  return verdicts;
}

/**
 * Reads an X-Mnemom-Verdict header that follows the canonical grammar to the byte:
 *
 *     front=V; autonomy=V; integrity=V; back=V      V = pass | observed | nudged | enforced
 *
 * @throws {SyntaxError} on anything else, an absent header included. It names the place.
 */
export function parseMnemomVerdictStrict(headerValue: string | null | undefined): CanonicalVerdicts {
  const pairs = (headerValue ?? '').split('; ');
  if (pairs.length !== CHECKPOINTS.length) {
    throw new SyntaxError(`parse X-Mnemom-Verdict: ${pairs.length} pairs, want ${CHECKPOINTS.length}`);
  }
  const verdicts: CanonicalVerdicts = { front: 'pass', autonomy: 'pass', integrity: 'pass', back: 'pass' };
  for (const [i, name] of CHECKPOINTS.entries()) {
    const pair = pairs[i] ?? '';
    if (!pair.startsWith(`${name}=`)) {
      throw new SyntaxError(`parse X-Mnemom-Verdict: pair ${i + 1} is not ${name}`);
    }
    const value = pair.slice(name.length + 1);
    if (!isVerdictValue(value)) {
      throw new SyntaxError(`parse X-Mnemom-Verdict: unknown value of ${name}`);
    }
    verdicts[name] = value;
  }
  return verdicts;
}

// A list, not a look-up in an object: a header may name __proto__ or constructor.
function isCheckpoint(name: string): name is Checkpoint {
  return (CHECKPOINTS as readonly string[]).includes(name);
}
