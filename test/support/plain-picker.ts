import { orderTargets } from '../../server/routing/order-targets.ts';
import type { Picker } from '../../server/routing/picker.ts';

const noCredential: readonly null[] = [null];

/** Knows nothing of earlier requests: by priority and weight, and the credentials as they are configured. */
export const plainPicker: Picker = {
  order: (targets) => orderTargets(targets),
  credentials: ({ provider }) => (provider.credentials.length > 0 ? provider.credentials : noCredential),
  mayBeAsked: () => true,
  trialPatienceMs: () => 0,
  began() {},
  answers() {},
  report() {},
};
