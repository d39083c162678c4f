// Compiled, never run: what clients write must be well typed.
import {
  isVerdictValue,
  parseMnemomAdvisories,
  parseMnemomVerdict,
  parseMnemomVerdictStrict,
  surface,
  type CheckpointVerdicts,
  type MnemomAdvisory,
  type VerdictValue,
} from '../src/index.js';

declare const response: Response;

// The published snippets.
const v: CheckpointVerdicts = parseMnemomVerdict(response.headers.get('X-Mnemom-Verdict')!);
const enforced: boolean = v.integrity === 'enforced';
const advisories: MnemomAdvisory[] = parseMnemomAdvisories(response.headers.get('X-Mnemom-Advisory'));

// A value that was read tolerantly is a VerdictValue only after the question.
// @ts-expect-error
const unasked: VerdictValue = v.front;
const asked: VerdictValue | undefined = isVerdictValue(v.front) ? v.front : undefined;
const strict: VerdictValue = parseMnemomVerdictStrict(response.headers.get('X-Mnemom-Verdict')).front;

surface(response.headers);
surface({ 'set-cookie': ['a'], 'x-mnemom-agent': 'a', etag: undefined });
