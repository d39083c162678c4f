import { trimSpace } from './space.js';

/** How much an advisory matters, from least to most. */
export type Severity = 'info' | 'warn' | 'critical';

/** One entry of X-Mnemom-Advisory. */
export type MnemomAdvisory = {
  /** Who says it: `safe_house.dlp`, `gatehouse.coverage`. */
  source: string;
  /** One line for people. Where it was too long for the header it ends in `...`. */
  text: string;
  /** Absent when not said. A word that is not a {@link Severity} stands as it came. */
  severity?: Severity | (string & {});
  /** Where to read more. */
  id?: string;
};

/**
 * Reads an X-Mnemom-Advisory header. An absent or blank one has no advisories. Members that it does not know are skipped,
 * and more entries are taken than the five that a gateway writes.
 *
 * @throws {SyntaxError} when the header is not a JSON array of objects with a source and a text.
 */
export function parseMnemomAdvisories(headerValue: string | null | undefined): MnemomAdvisory[] {
  const header = headerValue ?? '';
  if (trimSpace(header) === '') {
    return [];
  }
  const entries = parseJSON(header);
  if (!Array.isArray(entries) || !entries.every((e) => typeof e === 'object' && !Array.isArray(e))) {
    throw new SyntaxError('parse X-Mnemom-Advisory: not a JSON array of objects');
  }
  return entries.map((entry, i) => advisory(entry ?? {}, `parse X-Mnemom-Advisory: entry ${i + 1}`));
}

// JSON.parse's own errors quote what they could not read.
function parseJSON(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function advisory(entry: Record<string, unknown>, place: string): MnemomAdvisory {
  const source = member(entry, 'source', place);
  const text = member(entry, 'text', place);
  const severity = member(entry, 'severity', place);
  const id = member(entry, 'id', place);
  if (source === undefined || text === undefined) {
    throw new SyntaxError(`${place}: no source or no text`);
  }
  return { source, text, ...(severity && { severity }), ...(id && { id }) };
}

/** A string member; undefined when it is absent or null. */
function member(entry: Record<string, unknown>, name: string, place: string): string | undefined {
  const value = entry[name] ?? undefined;
  if (value !== undefined && typeof value !== 'string') {
    throw new SyntaxError(`${place}: ${name} is not a string`);
  }
  // Half a surrogate pair is no character, and breaks whoever encodes it later.
  return value?.replace(/\p{Surrogate}/gu, '\ufffd');
}
