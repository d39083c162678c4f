import { trimSpace } from './space.js';

const WORDS = ['clear', 'ambiguous', 'boundary_violation', 'skipped', 'pending', 'disabled', 'error', 'pass'] as const;

/**
 * The raw word of X-AIP-Verdict: how far the analysis of the model's reasoning came and what it found. `clear`, `ambiguous`
 * (worth a look) and `boundary_violation` are findings. `skipped`: there was no reasoning; `pending`: a stream is still
 * running, and the last word comes in a trailer; `disabled`: the mode is off; `error`: the analysis did not come to an end.
 * `pass` is an older word for `clear`.
 */
export type AIPVerdict = (typeof WORDS)[number];

/**
 * Reads an X-AIP-Verdict header. White space around the word is ignored.
 *
 * @throws {SyntaxError} on a word that is not in the list, and on an absent header.
 */
export function parseAIPVerdict(headerValue: string | null | undefined): AIPVerdict {
  const header = trimSpace(headerValue ?? '');
  const word = WORDS.find((w) => w === header);
  if (word === undefined) {
    throw new SyntaxError('parse X-AIP-Verdict: unknown word');
  }
  return word;
}
