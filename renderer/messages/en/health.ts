/** Recent health of providers, models and credentials. */
export const health = {
  failures: {
    transient: 'It failed or could not be reached',
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
