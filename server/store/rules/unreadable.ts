import { GatewayError } from '../../contract/errors.ts';
import { messageOf } from './failures.ts';

/** The error of queries while the file cannot be read. */
export function unreadable(error: unknown): GatewayError {
  return new GatewayError(
    'storage_unavailable',
    `The ledger cannot be read at present (${messageOf(error)}). Requests are still served, and Sluice keeps retrying.`,
    { cause: error },
  );
}
