import { win32 } from 'node:path';

/** The path of the policy file. */
export function policyPath(platform: NodeJS.Platform, env: Readonly<Record<string, string | undefined>>): string {
  if (platform === 'darwin') return '/Library/Application Support/Sluice/policy.json';
  // Any user may create folders in ProgramData; in Program Files only administrators may.
  if (platform === 'win32') return win32.join(env.ProgramFiles || 'C:\\Program Files', 'Sluice Policy', 'policy.json');
  return '/etc/sluice/policy.json';
}
