import { orderTargets, type Picker } from '../../server/routing/picker.ts';

const noCredential: readonly null[] = [null];

/** Ignores earlier requests: targets by priority and weight, credentials in configured order. */
export const plainPicker: Picker = {
  order: (targets) => orderTargets(targets),
  credentials: ({ provider }) => (provider.credentials.length > 0 ? provider.credentials : noCredential),
  refusedForMs: () => null,
  heldBackForMs: () => 0,
  worthWaitingMs: () => 0,
  isAvailable: () => true,
  trialPatienceMs: () => 0,
  began() {},
  answers() {},
  report() {},
};
