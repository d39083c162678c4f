/**
 * Reads the header surface of a checkpoint gateway: X-Mnemom-Verdict, X-Mnemom-Advisory, X-AIP-Verdict and the ids beside
 * them. No runtime dependencies; any JavaScript runtime with ES2022.
 *
 * Errors never quote a header.
 */
export { parseMnemomAdvisories, type MnemomAdvisory, type Severity } from './advisory.js';
export { parseAIPVerdict, type AIPVerdict } from './aip.js';
export { surface, type HeaderSource, type Surface } from './headers.js';
export {
  isVerdictValue,
  parseMnemomVerdict,
  parseMnemomVerdictStrict,
  type CanonicalVerdicts,
  type Checkpoint,
  type CheckpointVerdicts,
  type VerdictValue,
} from './verdict.js';
