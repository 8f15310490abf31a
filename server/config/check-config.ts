/** Reads and checks a configuration that was written by hand. */
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

/** Invalid JSON. The message gives the position but does not quote the text, which may contain a secret. */
export class JsonSyntaxError extends SyntaxError {
  override readonly name = 'JsonSyntaxError';
}

/** `JSON.parse` for files edited by people: accepts a byte order mark and reports the position of an error. */
export function parseConfigJson(text: string): unknown {
  const content = text.startsWith('\uFEFF') ? text.slice(1) : text;
  try {
    return JSON.parse(content);
  } catch {
    throw new JsonSyntaxError(`not valid JSON at ${placeOf(content, faultOffset(content))}`);
  }
}

/**
 * Offset of the first invalid character. V8 does not always report it, so it is found by bisection: a valid prefix
 * fails with "unexpected end", a faulty one does not.
 */
function faultOffset(text: string): number {
  let validLength = 0;
  let invalidLength = text.length + 1;
  while (invalidLength - validLength > 1) {
    const middle = (validLength + invalidLength) >>> 1;
    if (isBeginningOfJson(text.slice(0, middle))) validLength = middle;
    else invalidLength = middle;
  }
  return validLength;
}

function isBeginningOfJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    const position = /at position (\d+)/.exec(message)?.[1];
    return /^(Unexpected end|Unterminated string)/.test(message) || Number(position) === text.length;
  }
}

function placeOf(text: string, offset: number): string {
  if (offset >= text.length) return 'its end: it stops too early';
  const before = text.slice(0, offset).split('\n');
  return `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
}
