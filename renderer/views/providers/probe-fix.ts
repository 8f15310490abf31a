import type { ProbeReport } from '../../../server/contract/probe.ts';

/** What one click can do about a failed test: another base URL, or another credential. Null: nothing. */
export type ProbeFix = { kind: 'base-url'; baseUrl: string } | { kind: 'credential'; isNew: boolean };

export function fixOf({ steps }: Pick<ProbeReport, 'steps'>): ProbeFix | null {
  const remedy = steps.find(({ status }) => status === 'failed')?.remedy;
  if (remedy?.code === 'set-base-url') return { kind: 'base-url', baseUrl: remedy.baseUrl };
  if (remedy?.code === 'check-credential') return { kind: 'credential', isNew: false };
  if (remedy?.code === 'add-credential') return { kind: 'credential', isNew: true };
  return null;
}
