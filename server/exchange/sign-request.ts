import { GatewayError } from '../contract/errors.ts';
import type { AttemptRecord } from '../contract/ledger.ts';
import type { UpstreamCredential } from '../providers/upstream.ts';
import type { FailedAttempt } from '../routing/attempt-result.ts';
import type { OutgoingRequest, Transport } from '../transport/transport.ts';
import { refusedCredential } from './attempt-failures.ts';

/** Adds the headers that prove who sends the request. Returns the failure if they cannot be had. */
export async function signed(
  request: OutgoingRequest,
  { signing }: UpstreamCredential,
  transport: Transport,
  record: AttemptRecord,
): Promise<FailedAttempt | null> {
  try {
    Object.assign(request.headers, await signing?.headersFor(request, transport));
    return null;
  } catch (thrown) {
    if (thrown instanceof GatewayError) return refusedCredential(thrown, record);
    throw thrown;
  }
}
