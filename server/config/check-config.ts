import type { z } from 'zod';
import { type Config, currentConfigSchema } from '../contract/config.ts';
import { configVersion, migrateConfig } from '../contract/removed-features.ts';

export type CheckedConfig =
  | { kind: 'good'; config: Config }
  | { kind: 'bad'; problems: string[] }
  | { kind: 'too-new'; message: string };

/** Migrates and validates a stored value. Problems name a path and the error, but do not quote values. */
export function checkConfig(value: unknown): CheckedConfig {
  const migrated = migrateConfig(value);
  if (migrated.kind === 'too-new') {
    const message = `it has version ${migrated.version}, made by a newer Sluice; this one reads up to version ${configVersion}`;
    return { kind: 'too-new', message };
  }
  const result = currentConfigSchema.safeParse(migrated.value);
  return result.success ? { kind: 'good', config: result.data } : { kind: 'bad', problems: problemsOf(result.error) };
}

/** One line for each problem: `providers[0].baseUrl: Invalid URL`. */
export function problemsOf(error: z.ZodError): string[] {
  return error.issues.map((issue) => `${pathText(issue.path)}: ${issue.message}`);
}

function pathText(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'at the top';
  return path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${String(part)}`))
    .join('');
}

/** The first few problems, for a message. */
export function summarizeProblems(problems: readonly string[]): string {
  const shown = problems.slice(0, 5).join('; ');
  return problems.length > 5 ? `${shown}; and ${problems.length - 5} more` : shown;
}
