import type { Picker } from './picker.ts';

const noCredential: readonly null[] = [null];

/**
 * For requests that only one provider can answer and that say nothing about its models: ignores health and reports
 * none. A key that may not read files may still be good for chat.
 */
export const onlyTarget: Picker = {
  order: (targets) => targets,
  credentials: ({ provider }) => (provider.credentials.length > 0 ? provider.credentials : noCredential),
  isAvailable: () => true,
  trialPatienceMs: () => 0,
  began() {},
  answers() {},
  report() {},
};
