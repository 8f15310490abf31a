/** Classifies PostgreSQL's errors: temporary ones, and those that need a person to act. */
import pg from 'pg';

/**
 * SQLSTATE classes: connection, refused user or password (which may be about to change), transaction to be repeated,
 * resources (disk full), shutdown and cancellation, I/O.
 */
const temporaryClasses = new Set(['08', '28', '40', '53', '57', '58']);
/** Read-only (a standby, or a full disk), lock not available. */
const temporaryCodes = new Set(['25006', '55P03']);

/** The SQLSTATE, such as 23505; null if the server did not answer. */
export function sqlStateOf(error: unknown): string | null {
  return error instanceof pg.DatabaseError ? (error.code ?? null) : null;
}

/** Whether the same statement may succeed later. */
export function isTemporary(error: unknown): boolean {
  const code = sqlStateOf(error);
  if (code !== null) return temporaryClasses.has(code.slice(0, 2)) || temporaryCodes.has(code);
  // The server did not answer: refused, reset, timed out, name not resolved.
  return error instanceof Error && !(error instanceof TypeError);
}

/** SQLSTATE classes: two rows for one, wrong values, violated constraints, limits of the program, exceptions of triggers. */
const classesOfValues = new Set(['21', '22', '23', '54', 'P0']);

/**
 * Whether these rows can never be written. Every other error can be fixed at the server, for example a missing
 * privilege, a changed password or a restored database.
 */
export function failsForEver(error: unknown): boolean {
  // Raised for a missing partition, which can be created, and for a violated constraint, which has a name.
  if (error instanceof pg.DatabaseError && error.code === '23514') return error.constraint !== undefined;
  // Text that is too long for a string is a RangeError.
  if (error instanceof TypeError || error instanceof RangeError) return true;
  return classesOfValues.has(sqlStateOf(error)?.slice(0, 2) ?? '');
}

/** Rejects with `explain(error)` for a temporary error, and with any other error unchanged. */
export async function explained<T>(ask: () => Promise<T>, explain: (error: unknown) => Error): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw isTemporary(error) ? explain(error) : error;
  }
}

export const isUniqueViolation = (error: unknown) => sqlStateOf(error) === '23505';
