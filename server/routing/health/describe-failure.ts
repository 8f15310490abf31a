import type { FailureClass } from '../../contract/ledger.ts';

const descriptions: Record<FailureClass, string> = {
  transient: 'it failed or could not be reached',
  silent: 'it did not answer in time',
  'stream-broken': 'its streams broke off',
  'model-unavailable': 'it says that it does not have this model',
  'rate-limit': 'its rate limit was reached',
  quota: 'its quota or credit is used up',
  credential: 'it refused the credential: replace it, or reset its health once the credential works again',
  'too-large': 'the request was too large for it',
  rejected: 'it refused the request',
  lost: 'its answer to a request that makes something was lost',
  shortage: 'this machine had no descriptors, ports or memory left',
  'client-gone': 'the client disconnected',
};

/** Why something is in a cooldown, for a person. */
export function describeFailure(failure: FailureClass): string {
  return descriptions[failure];
}
