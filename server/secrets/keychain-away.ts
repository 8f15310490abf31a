import { controlError } from '../contract/control-error.ts';
import type { Keychain } from './keychain.ts';
import type { SecretStore } from './secret-store.ts';

/** At the start, all secrets are asked for one after the other, and each would wait for the same. */
const retryMs = 10_000;

/**
 * A keychain that holds secrets but does not respond. It stays the store, so that nothing else replaces what is in it: all
 * calls reject with a GatewayError `storage_unavailable`, at once, until it responds again.
 *
 * @param open opens the keychain anew, since the library that did not load may load later
 */
export function keychainAway(first: Keychain, firstProblem: string, open: () => Promise<Keychain>): SecretStore {
  let keychain = first;
  let problem: string | undefined = firstProblem;
  let triedAtMs = Date.now();
  const outOfReach = new Set<string>();

  const tryAgain = async () => {
    triedAtMs = Date.now();
    keychain = await open();
    problem = await keychain.probe();
    if (problem === undefined) outOfReach.clear();
  };
  /** `isPersonAsking`: someone is there who may unlock it. */
  const reach = async (name: string | null, isPersonAsking: boolean): Promise<SecretStore> => {
    if (problem !== undefined && isPersonAsking) await tryAgain();
    else if (problem !== undefined && Date.now() - triedAtMs >= retryMs && !(await keychain.wouldPrompt()))
      await tryAgain();
    if (problem === undefined) return keychain.store;
    if (name !== null) outOfReach.add(name);
    throw controlError('storage_unavailable', { code: 'keychain-failed', reason: problem });
  };

  return {
    kind: 'keychain',
    get description() {
      if (problem === undefined) return keychain.store.description;
      const names = outOfReach.size > 0 ? ` Out of reach until then: ${[...outOfReach].sort().join(', ')}.` : '';
      return `${keychain.store.description} It does not respond (${problem}), and nothing takes its place.${names}`;
    },
    get: async (name) => (await reach(name, false)).get(name),
    set: async (name, value) => (await reach(null, true)).set(name, value),
    delete: async (name) => (await reach(null, true)).delete(name),
    list: async () => (await reach(null, false)).list(),
  };
}
