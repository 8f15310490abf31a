/**
 * The one attempt loop. Owns which target is asked next and how often; must not know what a reply looks like or how it
 * reaches the client: that is `attempt`, which says afterwards only how it went.
 */
import { GatewayError } from '../contract/errors.ts';
import type { TransportError } from '../transport/transport-error.ts';
import type { CompiledCredential, Target } from './snapshot.ts';

export type AttemptResult =
  /** Something was sent to the client, or the client has left: there is nothing more to decide. */
  | { kind: 'answered' }
  /** The upstream brought no reply, and the client has seen nothing of it. */
  | { kind: 'failed'; error: TransportError }
  /** The upstream answered with a redirect, which is not followed with credentials. */
  | { kind: 'redirected'; location: string };

export type Attempt = (target: Target, credential: CompiledCredential | null) => Promise<AttemptResult>;

/** A dropped connection is often just an idle one that the upstream had closed: the same target gets a second chance. */
const attemptsPerTarget = 2;

/**
 * Asks one target after the other until one answers. `credentialId` pins the credential (a job's owner).
 * Throws GatewayError `upstream_unreachable`, `upstream_timeout` or `upstream_redirected` when none did.
 */
export async function runAttempts(
  targets: readonly Target[],
  attempt: Attempt,
  credentialId?: string | null,
): Promise<void> {
  let last: { target: Target; result: Exclude<AttemptResult, { kind: 'answered' }> } | undefined;
  for (const target of targets) {
    const credential = pickCredential(target, credentialId);
    for (let number = 1; number <= attemptsPerTarget; number++) {
      const result = await attempt(target, credential);
      if (result.kind === 'answered') return;
      last = { target, result };
      if (!mayTryAgain(result)) break;
    }
  }
  if (!last) throw new GatewayError('no_healthy_provider', 'There is no provider to ask.');
  throw toGatewayError(last.target, last.result);
}

/** The same target again: only where it had no chance to work on the request or cannot have been silent about it. */
function mayTryAgain(result: AttemptResult): boolean {
  return (
    result.kind === 'failed' &&
    (result.error.fault === 'refused' || result.error.fault === 'reset' || result.error.fault === 'dns')
  );
}

function pickCredential(target: Target, pinned: string | null | undefined): CompiledCredential | null {
  const { credentials } = target.provider;
  return credentials.find((credential) => credential.id === pinned) ?? credentials[0] ?? null;
}

function toGatewayError(target: Target, result: Exclude<AttemptResult, { kind: 'answered' }>): GatewayError {
  const { name, endpoint } = target.provider;
  const host = new URL(endpoint.origin).host;
  if (result.kind === 'redirected') {
    return new GatewayError(
      'upstream_redirected',
      `Provider "${name}" (${host}) answered with a redirect to ${result.location}, which is not followed with its credential. ` +
        'Set its base URL to where the API really is.',
    );
  }
  const { error } = result;
  if (error.fault === 'timeout') {
    const what = error.phase === 'connect' ? 'accepted no connection' : 'sent no answer';
    return new GatewayError('upstream_timeout', `Provider "${name}" (${host}) ${what} in time (${error.message}).`, {
      cause: error,
    });
  }
  return new GatewayError('upstream_unreachable', `Provider "${name}" (${host}) cannot be reached: ${error.message}.`, {
    cause: error,
  });
}
