import { GatewayError } from '../../contract/errors.ts';
import { messageOf } from '../rules/failures.ts';
import type { Address } from './address.ts';
import { isTemporary, sqlStateOf } from './failures.ts';

/**
 * Converts the error into one line that says what to do about a database that cannot be used. Other errors are returned
 * unchanged.
 */
export function startProblem(error: unknown, { host, user, database }: Address): unknown {
  if (error instanceof GatewayError) return error;
  const unavailable = (message: string) => new GatewayError('storage_unavailable', message, { cause: error });
  switch (sqlStateOf(error)) {
    case '28P01':
    case '28000':
      return unavailable(`PostgreSQL at ${host} refuses the user "${user}". Check name, password and pg_hba.conf.`);
    case '3D000':
      return unavailable(
        `PostgreSQL at ${host} has no database "${database}". Create it: createdb --owner ${user} ${database}`,
      );
    case '42501':
      return unavailable(
        `The user "${user}" may not make Sluice's tables in the database "${database}" at ${host}. ` +
          `Make it the owner: ALTER DATABASE "${database}" OWNER TO "${user}"`,
      );
    // A table, sequence or index with that name already exists.
    case '42P07':
      return unavailable(
        `The database "${database}" at ${host} has tables of another program (${messageOf(error)}). ` +
          `Give Sluice a database of its own: createdb --owner ${user} sluice`,
      );
    case '25006':
      return unavailable(`The database "${database}" at ${host} is read-only. Name the primary server, not a standby.`);
    default:
      return isTemporary(error)
        ? unavailable(
            `PostgreSQL at ${host} cannot be used now (${messageOf(error)}). Check that it runs and can be reached.`,
          )
        : error;
  }
}

/** Whether a start that failed with this error may succeed later without a change of its settings. */
export function mayPass(error: unknown): boolean {
  if (!(error instanceof GatewayError) || error.code !== 'storage_unavailable') return false;
  // The database may still have to be created.
  return isTemporary(error.cause) || sqlStateOf(error.cause) === '3D000';
}
