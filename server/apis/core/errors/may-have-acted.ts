/** Whether an upstream may have done what it was asked to do, although it gave no usable answer. Pure. */

/** What is known of a failed call. */
interface FailedCall {
  /** Any byte of the request may have reached the upstream. */
  wasSent: boolean;
  /** The status of the answer, or the one that an error in it should have had; null if there was none. */
  status: number | null;
}

/** Of the server: it does not do this at all, cannot do it now, is a loop of gateways, or is overloaded (Anthropic). */
const refusals = new Set([501, 503, 508, 529]);
/** The server gave up waiting, found the same request under way, or its client gone: the work may have begun. */
const unclear = new Set([408, 409, 499]);

/**
 * False only if the request did not arrive or was refused before the work. A server error, a redirect that may follow the
 * work, a lost connection, a damaged answer and a silence all leave it open.
 */
export function mayHaveActed({ wasSent, status }: FailedCall): boolean {
  if (status === null) return wasSent;
  if (status === 307 || status === 308) return false;
  if (status >= 500) return !refusals.has(status);
  return status < 400 || unclear.has(status);
}
