/** Classifies SQLite's errors as temporary errors and damage. */
import { GatewayError } from '../../contract/errors.ts';

const corrupt = 11;
const cannotOpen = 14;
const constraint = 19;
const notADatabase = 26;
/** Busy, locked, read-only, I/O error, full, cannot open; also damage, because the file is then replaced. */
const temporary = new Set([5, 6, 8, 10, corrupt, 13, cannotOpen, notADatabase]);

/** Like SQLite's "cannot open", for system errors before SQLite was called. */
export class DatabaseUnavailable extends Error {
  readonly errcode = cannotOpen;
}

/** SQLite's primary result code, such as 5 (busy) or 13 (full); null for other errors. */
export function sqliteCode(error: unknown): number | null {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return null;
  return error.errcode & 0xff;
}

export function isTemporary(error: unknown): boolean {
  return temporary.has(sqliteCode(error) ?? -1);
}

/** Such as that a value is not unique. */
export const isConstraintViolation = (error: unknown) => sqliteCode(error) === constraint;

export function isDamage(error: unknown): error is Error {
  const code = sqliteCode(error);
  return code === corrupt || code === notADatabase;
}

/**
 * The message of any thrown value. If all addresses of a host refuse, Node's error has a message for each address but
 * none for the whole.
 */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join(', ');
  return error instanceof Error ? error.message : String(error);
}

/** The error of queries while the file cannot be read. */
export function unreadable(error: unknown): GatewayError {
  return new GatewayError(
    'storage_unavailable',
    `The ledger cannot be read at present (${messageOf(error)}). Requests are still served, and Sluice keeps retrying.`,
    { cause: error },
  );
}
