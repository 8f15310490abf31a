import { GatewayError } from '../contract/errors.ts';
import type { AttemptRecord } from '../contract/ledger.ts';
import type { NextAttempt } from '../routing/attempt-plan.ts';
import type { FailedAttempt } from '../routing/attempt-result.ts';
import type { OutgoingRequest, Transport } from '../transport/transport.ts';
import { TransportError } from '../transport/transport-error.ts';
import { refusedCredential, unsignable } from './attempt-failures.ts';

/** Adds signature or token headers to the request. Returns the failure if they cannot be obtained. */
export async function signed(
  request: OutgoingRequest,
  { target, credential }: NextAttempt,
  transport: Transport,
  record: AttemptRecord,
): Promise<FailedAttempt | null> {
  try {
    Object.assign(request.headers, await credential?.signing?.headersFor(request, transport));
    return null;
  } catch (thrown) {
    if (thrown instanceof GatewayError) return refusedCredential(thrown, record);
    if (thrown instanceof TransportError) return unsignable(target, thrown, record);
    throw thrown;
  }
}
