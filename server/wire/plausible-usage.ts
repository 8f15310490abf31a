/**
 * Whether a usage that was told can be true. A count that is negative, or larger than request and reply can stand for, is
 * none: left in, one of them would spoil the sums of its key and month for good. Pure.
 */
import type { Usage } from '../contract/ledger.ts';

/** The most that a request and its reply can stand for. */
export interface MostUsage {
  inputTokens: number;
  outputTokens: number;
  seconds: number;
}

export const unbounded: MostUsage = {
  inputTokens: Number.MAX_SAFE_INTEGER,
  outputTokens: Number.MAX_SAFE_INTEGER,
  seconds: Number.MAX_SAFE_INTEGER,
};

const partsOfInput = ['cachedInputTokens', 'cacheWriteTokens', 'audioInputTokens', 'imageInputTokens'] as const;
const partsOfOutput = ['reasoningTokens', 'audioOutputTokens', 'imageOutputTokens'] as const;

interface Plausible {
  usage: Usage;
  /** Some of what was told was left out, or rounded up. */
  isMended: boolean;
}

export function plausibleUsage(told: Usage, most: MostUsage): Plausible {
  const usage: Usage = {};
  keepTokens(usage, told, { total: 'inputTokens', parts: partsOfInput, most: most.inputTokens });
  keepTokens(usage, told, { total: 'outputTokens', parts: partsOfOutput, most: most.outputTokens });
  if (told.seconds !== undefined && isWithin(told.seconds, most.seconds)) usage.seconds = told.seconds;
  let isMended = false;
  for (const name in told) {
    const counted = name as keyof Usage;
    if (told[counted] !== usage[counted]) isMended = true;
  }
  return { usage, isMended };
}

interface Side {
  total: 'inputTokens' | 'outputTokens';
  parts: readonly (keyof Usage)[];
  most: number;
}

/** Parts are part of the total; without one they have to be plausible by themselves. */
function keepTokens(usage: Usage, told: Usage, { total, parts, most }: Side): void {
  const sum = told[total];
  if (sum !== undefined) {
    if (!isWithin(sum, most)) return;
    usage[total] = Math.ceil(sum);
  }
  for (const name of parts) {
    const part = told[name];
    if (part !== undefined && isWithin(part, sum ?? most)) usage[name] = Math.ceil(part);
  }
}

const isWithin = (value: number, most: number) => value >= 0 && value <= most;
