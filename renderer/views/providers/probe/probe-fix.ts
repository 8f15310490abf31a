import type { ProbeReport } from '../../../../server/contract/probe.ts';

/** What one click can do about a failed test. `credential`: the one to replace; null to add one. */
type ProbeFix =
  | { kind: 'base-url'; baseUrl: string }
  | { kind: 'certificate'; fingerprint: string }
  | { kind: 'credential'; credential: string | null };

/** Null if there is nothing to do. */
export function fixOf({ steps, certificate }: Pick<ProbeReport, 'steps' | 'certificate'>): ProbeFix | null {
  if (certificate) return { kind: 'certificate', fingerprint: certificate.fingerprint };
  const failed = steps.find(({ status }) => status === 'failed');
  if (failed?.remedy?.code === 'set-base-url') return { kind: 'base-url', baseUrl: failed.remedy.baseUrl };
  if (failed?.remedy?.code === 'add-credential') return { kind: 'credential', credential: null };
  if (failed?.remedy?.code !== 'check-credential' || !('credential' in failed.finding)) return null;
  return { kind: 'credential', credential: failed.finding.credential };
}
