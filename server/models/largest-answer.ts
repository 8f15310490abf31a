/**
 * The most tokens that one answer of a model has, reasoning included: what is sent to it as its maximum, and what is reserved
 * of a hard budget where a request states none. What is not here is `maxOutput` in the price table. As of 2026-11-23.
 *
 * Sources: Anthropic, "Models overview"; Amazon Bedrock user guide, "Inference request parameters", and the Amazon Nova
 * user guide, "Complete request schema".
 */
import { compareVersion, identify } from '../contract/model-identity.ts';
import { createFamilies } from './model-families.ts';

const ofFamily = createFamilies({
  'claude-opus-4.5': 64_000,
  'claude-sonnet-4.5': 64_000,
  'claude-haiku-4.5': 64_000,
  'claude-opus-4.1': 32_000,
  'claude-opus-4': 32_000,
  'claude-sonnet-4': 64_000,
  'claude-3.7-sonnet': 64_000,
  'claude-3.5-sonnet': 8192,
  'claude-3.5-haiku': 8192,
  'claude-3-opus': 4096,
  'claude-3-sonnet': 4096,
  'claude-3-haiku': 4096,
  'claude-instant': 4096,
  nova: 10_000,
  'nova-premier': 32_000,
  'nova-2': 65_535,
});

/** Bedrock allows open models less than they could. */
const onBedrock = createFamilies({
  llama: 8192,
  'llama3-8b': 2048,
  'llama3-70b': 2048,
  'mistral-7b': 8192,
  mixtral: 4096,
  'mistral-large-2402': 8192,
  'mistral-large-2407': 8192,
});

/** Null if unknown. An unknown Claude since 4 is treated like the newest. */
export function largestAnswer(model: string): number | null {
  const identity = identify(model);
  const known = ofFamily(model) ?? (identity.isPointed ? onBedrock(model) : undefined);
  if (known !== undefined) return known;
  if (!identity.model.startsWith('claude')) return null;
  return compareVersion(identity, [4, 0]) < 0 ? 4096 : 128_000;
}
