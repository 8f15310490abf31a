import { InvalidArgumentError } from 'commander';
import { type Policy, policySchema } from '../contract/policy.ts';

/** The given part of a policy; a timeout of null restores the default. */
export type PolicyChoice = Partial<Omit<Policy, 'timeouts'>> & {
  timeouts?: { [Phase in keyof Policy['timeouts']]?: number | null };
};

export const policyHelp = 'strategy=sticky,retries=1,timeouts.firstByteMs=30000';

/** Parses `name=value,…`, or JSON as in the configuration. Repeatable. */
export function collectPolicy(text: string, before: PolicyChoice = {}): PolicyChoice {
  const parsed = text.trimStart().startsWith('{') ? parseJson(text) : parsePairs(text);
  const timeouts = { ...before.timeouts, ...(typeof parsed.timeouts === 'object' ? parsed.timeouts : {}) };
  const all: PolicyChoice = { ...before, ...parsed, ...(Object.keys(timeouts).length > 0 && { timeouts }) };
  const checked = policySchema.safeParse(withPolicy(undefined, all));
  if (checked.success) return all;
  const [issue] = checked.error.issues;
  throw new InvalidArgumentError(`${issue?.path.join('.') || 'policy'}: ${issue?.message}. Use ${policyHelp}.`);
}

/** The previous policy with the given changes. */
export function withPolicy(before: Policy | undefined, { timeouts, ...settings }: PolicyChoice): object {
  const limits = Object.entries({ ...before?.timeouts, ...timeouts }).filter(([, value]) => value !== null);
  return { ...before, ...settings, timeouts: Object.fromEntries(limits) };
}

function parseJson(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidArgumentError(`This is not JSON. Use ${policyHelp}, or JSON as in the configuration.`);
  }
}

function parsePairs(text: string): Record<string, unknown> {
  const settings: Record<string, unknown> = {};
  const timeouts: Record<string, unknown> = {};
  for (const pair of text.split(',')) {
    const [, name = '', value = ''] = /^\s*([a-zA-Z.]+)\s*=\s*(.+?)\s*$/.exec(pair) ?? [];
    if (!name) throw new InvalidArgumentError(`"${pair}" is not name=value. Use ${policyHelp}.`);
    const phase = /^timeouts\.(.+)$/.exec(name)?.[1];
    const numberOrText = /^\d+$/.test(value) ? Number(value) : value;
    if (phase) timeouts[phase] = value === 'usual' ? null : numberOrText;
    else settings[name] = numberOrText;
  }
  return { ...settings, ...(Object.keys(timeouts).length > 0 && { timeouts }) };
}
