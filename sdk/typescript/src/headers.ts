import { parseMnemomAdvisories, type MnemomAdvisory } from './advisory.js';
import { parseAIPVerdict, type AIPVerdict } from './aip.js';
import { parseMnemomVerdict, type CheckpointVerdicts } from './verdict.js';

/**
 * Response headers: fetch's `Headers`, any other iterable of names and values, or an object such as the `headers` of Node's
 * `http.IncomingMessage`. Names match case-insensitively.
 */
export type HeaderSource =
  | Iterable<readonly [string, string]>
  | { readonly [name: string]: string | readonly string[] | undefined };

/** What a gateway said about one response. What it did not say is absent. */
export interface Surface {
  /** X-Mnemom-Request-Id: the id under which the gateway logged and recorded the exchange. */
  requestId?: string;
  /** X-Mnemom-Verdict, read tolerantly. Absent means that no gateway spoke, not that all is well. */
  verdicts?: CheckpointVerdicts;
  /** X-Mnemom-Advisory, most severe first. Empty when there are none. */
  advisories: MnemomAdvisory[];
  /** X-Mnemom-Agent: whom the gateway took the client for. */
  agent?: string;
  /** X-Mnemom-Session: the conversation that the exchange belongs to. */
  session?: string;
  /** X-AIP-Verdict: the raw word of the analysis. */
  aipVerdict?: AIPVerdict;
  /** X-AIP-Checkpoint-Id: where the analysis is stored. */
  checkpointId?: string;
  /** The names of headers that were there and could not be read; their members above are as if absent. */
  malformed: string[];
}

/** Reads the whole header surface of a response. It never throws on what a header says: see {@link Surface.malformed}. */
export function surface(headers: HeaderSource): Surface {
  const values = lowerCased(headers);
  const read: Surface = { advisories: [], malformed: [] };

  const take = (name: string, use: (value: string) => void): void => {
    const value = values.get(name.toLowerCase());
    if (value === undefined || value === '') {
      return;
    }
    try {
      use(value);
    } catch {
      read.malformed.push(name);
    }
  };
  take('X-Mnemom-Request-Id', (value) => (read.requestId = value));
  take('X-Mnemom-Verdict', (value) => (read.verdicts = parseMnemomVerdict(value)));
  take('X-Mnemom-Advisory', (value) => (read.advisories = parseMnemomAdvisories(value)));
  take('X-Mnemom-Agent', (value) => (read.agent = value));
  take('X-Mnemom-Session', (value) => (read.session = value));
  take('X-AIP-Verdict', (value) => (read.aipVerdict = parseAIPVerdict(value)));
  take('X-AIP-Checkpoint-Id', (value) => (read.checkpointId = value));
  return read;
}

/** Values by lower-cased name. Those of one name are joined by a comma, as fetch does (RFC 9110, section 5.3). */
function lowerCased(headers: HeaderSource): Map<string, string> {
  const values = new Map<string, string>();
  for (const [name, given] of pairs(headers)) {
    if (given === undefined) {
      continue;
    }
    const key = name.toLowerCase();
    const value = typeof given === 'string' ? given : given.join(', ');
    const before = values.get(key);
    values.set(key, before === undefined ? value : `${before}, ${value}`);
  }
  return values;
}

function pairs(headers: HeaderSource): Iterable<readonly [string, string | readonly string[] | undefined]> {
  return isIterable(headers) ? headers : Object.entries(headers);
}

function isIterable(headers: HeaderSource): headers is Iterable<readonly [string, string]> {
  return Symbol.iterator in headers;
}
