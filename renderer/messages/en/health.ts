/** How providers, models and credentials did of late. */
export const health = {
  failures: {
    transient: 'It failed or could not be reached',
    silent: 'It did not answer in time',
    'stream-broken': 'Its streams broke off',
    'model-unavailable': 'It says that it does not have the model',
    'rate-limit': 'Its rate limit was reached',
    quota: 'Its quota or credit is used up',
    credential: 'It refused the credential',
    'too-large': 'The request was too large for it',
    rejected: 'It refused the request',
    'client-gone': 'The client left',
  },
  until: (failure: string, moment: string) => `${failure}. Asked only if nothing else can answer until ${moment}.`,
  isTried: (failure: string) => `${failure}. The next request tries it.`,
  isRefused: (failure: string) => `${failure}. Not asked until it is replaced, or reset once that is mended.`,
  recovers: (failure: string) => `${failure}, but answers again.`,
  firstByte: (duration: string) => `first byte in ${duration}`,
  failing: (share: string) => `${share} of its answers of late failed.`,
  withoutModel: 'requests without a model',
  reset: 'Reset',
  resetNamed: (name: string) => `Reset ${name}: forget its failures`,
};
