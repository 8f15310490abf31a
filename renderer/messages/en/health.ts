import { connectionFaultTexts } from '../../../server/contract/provider-views.ts';

/** Recent health of providers, models and credentials. */
export const health = {
  failures: {
    silent: 'It did not respond in time',
    'stream-broken': 'Its streams were cut off',
    'model-unavailable': 'It does not have the model',
    'rate-limit': 'Its rate limit was reached',
    quota: 'Its quota or credit is used up',
    credential: 'It rejected the API key',
    'too-large': 'The request was too large for it',
    rejected: 'It rejected the request',
    lost: 'The outcome of a purchase is unknown',
    shortage: 'This machine ran out of connections or memory',
    'client-gone': 'The client closed its connection',
  },
  answersWith: (status: number) => `It answers with errors (${status})`,
  badAnswers: 'Its answers break off or are damaged',
  unreachable: (why: string) => `It cannot be reached: ${why}`,
  connectionFaults: connectionFaultTexts,
  until: (failure: string, moment: string) =>
    `${failure}. Retrying at ${moment}; used before that only if nothing else can answer.`,
  isTried: (failure: string) => `${failure}. The next request will try it again.`,
  isRefused: (failure: string) => `${failure}. Paused: replace the credential, or retry.`,
  recovers: (failure: string) => `${failure}, but it is answering again.`,
  firstByte: (duration: string) => `first byte in ${duration}`,
  failing: (share: string) => `${share} of recent requests failed.`,
  withoutModel: 'requests without a model',
  reset: 'Retry now',
  resetNamed: (name: string) => `Retry now: ${name}`,
};
