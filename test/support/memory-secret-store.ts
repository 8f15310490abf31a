import type { SecretStore } from '../../server/secrets/secret-store.ts';

/** Keeps secrets for as long as the program runs. */
export function createMemorySecretStore(initial: Record<string, string> = {}): SecretStore {
  const secrets = new Map(Object.entries(initial));
  return {
    kind: 'memory',
    description: 'Credentials are kept in memory only and are gone when the program ends.',
    get: async (name) => secrets.get(name),
    set: async (name, value) => {
      secrets.set(name, value);
    },
    delete: async (name) => {
      secrets.delete(name);
    },
    list: async () => [...secrets.keys()].sort(),
  };
}
