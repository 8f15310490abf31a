import type { Picker } from './picker.ts';

const noCredential: readonly null[] = [null];

/**
 * For what one provider alone can answer, and about which it says nothing of its models: neither looks at health nor reports
 * to it. A key that may not read files is good for chat all the same.
 */
export const onlyTarget: Picker = {
  order: (targets) => targets,
  credentials: ({ provider }) => (provider.credentials.length > 0 ? provider.credentials : noCredential),
  mayBeAsked: () => true,
  trialPatienceMs: () => 0,
  began() {},
  answers() {},
  report() {},
};
