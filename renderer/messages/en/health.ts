import { conditionTexts } from '../../../server/contract/provider-condition.ts';

/** The condition of providers, models and credentials. */
export const health = {
  ...conditionTexts,
  until: (moment: string) => `Retrying at ${moment}; used before that only if nothing else can answer.`,
  /** `moment` is null if it is not known. */
  isTried: (failures: number, count: string, moment: string | null) =>
    moment === null
      ? 'The next request will try it.'
      : `Failed ${failures > 1 ? `${count} times, last ` : ''}at ${moment}; the next request will try it.`,
  isRefused: `Replace the credential; until then ${conditionTexts.refusedTrial}.`,
  /** Ends a sentence. */
  stop: '.',
  firstByte: (duration: string) => `first byte in ${duration}`,
  failing: (share: string) => `${share} of recent requests failed.`,
  more: (count: string) => `and ${count} more`,
  reset: 'Retry now',
  resetNamed: (name: string) => `Retry now: ${name}`,
};
