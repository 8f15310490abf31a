import { win32 } from 'node:path';

/** Where the system's managers put a policy. */
export function policyPath(platform: NodeJS.Platform, env: Readonly<Record<string, string | undefined>>): string {
  if (platform === 'darwin') return '/Library/Application Support/Sluice/policy.json';
  // Anyone may make a folder under ProgramData, but only an administrator one under Program Files.
  if (platform === 'win32') return win32.join(env.ProgramFiles || 'C:\\Program Files', 'Sluice Policy', 'policy.json');
  return '/etc/sluice/policy.json';
}
