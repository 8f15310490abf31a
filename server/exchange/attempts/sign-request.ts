import { GatewayError } from '../../contract/errors.ts';
import type { AttemptRecord } from '../../contract/ledger.ts';
import type { UpstreamCredential } from '../../providers/upstream.ts';
import type { NextAttempt } from '../../routing/attempt-plan.ts';
import type { FailedAttempt } from '../../routing/attempt-result.ts';
import type { OutgoingRequest, ResponseHeaders, Transport } from '../../transport/transport.ts';
import { TransportError } from '../../transport/transport-error.ts';
import { refusedCredential, unsignable } from '../answer/attempt-failures.ts';

/** Adds signature or token headers to the request. Returns the failure if they cannot be obtained. */
export async function signRequest(
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

/** The credentials of a request that were refused because of this machine's clock. */
export class CorrectedClocks {
  #credentials: Set<UpstreamCredential> | undefined;

  /** Marks the result of a refused call if it can be signed again, at most once with each credential. */
  noted(
    result: FailedAttempt,
    credential: UpstreamCredential | null,
    sentHeaders: OutgoingRequest['headers'],
    answerHeaders: ResponseHeaders,
  ): FailedAttempt {
    const { failure } = result;
    if (failure.class !== 'credential' || !credential?.signing?.correctClock?.(sentHeaders, answerHeaders))
      return result;
    this.#credentials ??= new Set();
    if (this.#credentials.has(credential)) return result;
    this.#credentials.add(credential);
    return { ...result, failure: { ...failure, isClockCorrected: true } };
  }
}
