/** What SQLite's failures mean: which may pass, and which are damage. */

const corrupt = 11;
const cannotOpen = 14;
const notADatabase = 26;
/**
 * Failures after which the same may work later: busy, locked, read-only, input/output, full, cannot open; and damaged,
 * since another file is begun then.
 */
const passing = new Set([5, 6, 8, 10, corrupt, 13, cannotOpen, notADatabase]);

/** Stands for SQLite's own "cannot open" where the system refused before SQLite was asked. */
export class DatabaseUnavailable extends Error {
  readonly errcode = cannotOpen;
}

/** SQLite's primary result code of a failure, such as 5 (busy) or 13 (full); null if the failure is not SQLite's. */
export function sqliteCode(error: unknown): number | null {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return null;
  return error.errcode & 0xff;
}

export function mayPass(error: unknown): boolean {
  return passing.has(sqliteCode(error) ?? -1);
}

export function isDamage(error: unknown): error is Error {
  const code = sqliteCode(error);
  return code === corrupt || code === notADatabase;
}

/** What is said of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
