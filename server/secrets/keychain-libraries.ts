/**
 * The two libraries through which the operating system's keychain is used, in the order of preference, and the one
 * table of how they differ. keytar is archived, and its binary is compiled or downloaded by an install script; where it
 * does not load, @napi-rs/keyring is used, whose binaries are packages of their own. Both are optional.
 */
export const keychainLibraryNames = ['keytar', '@napi-rs/keyring'] as const;
export type KeychainLibraryName = (typeof keychainLibraryNames)[number];

/** The calls of keytar in use, for both libraries, and `load`, which rejects if the library does not load. */
interface KeychainLibrary {
  load(): Promise<void>;
  getPassword(service: string, account: string): Promise<string | null>;
  setPassword(service: string, account: string, value: string): Promise<void>;
  deletePassword(service: string, account: string): Promise<boolean>;
  findCredentials(service: string, target?: string): Promise<{ account: string; password: string }[]>;
  /** Deletes what lies under a target name of Windows; only with @napi-rs/keyring. */
  deleteTarget(target: string, service: string, account: string): Promise<boolean>;
}
export type KeychainVerb = keyof KeychainLibrary;

type Keytar = Omit<KeychainLibrary, 'load' | 'deleteTarget'>;
interface KeyringEntry {
  getSecret(): Promise<Iterable<number> | null>;
  setSecret(secret: Uint8Array): Promise<void>;
  deleteCredential(): Promise<boolean>;
}
interface KeyringEntryOptions {
  linux: { store: 'secret-service' };
}
interface Keyring {
  AsyncEntry: {
    new (service: string, account: string, options: KeyringEntryOptions): KeyringEntry;
    withTarget(target: string, service: string, account: string): KeyringEntry;
  };
  findCredentialsAsync: Keytar['findCredentials'];
}

/**
 * The calls of one library, from what its module exports. Refers to nothing outside, since its text is also part of the
 * program of a child process.
 *
 * Of @napi-rs/keyring, secrets are used instead of passwords: on Windows, it writes passwords as UTF-16, of which half as
 * many characters fit and which keytar could not read. On Linux, it would fall back to a keyring of the kernel, which is
 * empty after the next start of the machine.
 */
export function adaptKeychainLibrary(module: Keytar | Keyring): KeychainLibrary {
  const load = async () => {};
  if (!('AsyncEntry' in module)) {
    const { getPassword, setPassword, deletePassword, findCredentials } = module;
    return { load, getPassword, setPassword, deletePassword, findCredentials, deleteTarget: async () => false };
  }
  const entry = (service: string, account: string) =>
    new module.AsyncEntry(service, account, { linux: { store: 'secret-service' } });
  return {
    load,
    async getPassword(service, account) {
      const secret = await entry(service, account).getSecret();
      // Rejects what is not text, instead of giving a damaged value back as another one.
      return secret === null
        ? null
        : new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(secret));
    },
    setPassword: async (service, account, value) => entry(service, account).setSecret(Buffer.from(value, 'utf8')),
    deletePassword: async (service, account) => entry(service, account).deleteCredential(),
    findCredentials: module.findCredentialsAsync,
    // On Windows, creating an entry with a target empties what is under it: for deleting only.
    deleteTarget: async (target, service, account) =>
      module.AsyncEntry.withTarget(target, service, account).deleteCredential(),
  };
}

/** How a library keeps the value `account` of `service`. */
interface KeychainForm {
  /** By what it is found: all attributes on Linux, service and account on macOS, the target name on Windows. */
  item(service: string, account: string): Record<string, string>;
  /** What it is called where the system shows it. */
  label(service: string, account: string): string;
  /** The bytes of the value. */
  value: 'UTF-8';
}
type KeychainForms = Record<KeychainLibraryName, KeychainForm>;

/** What a library wrote, the other one finds only where `item` is the same. */
const secretService: KeychainForms = {
  // secret_password_store_sync with a schema of libsecret, keytar_posix.cc.
  keytar: {
    item: (service, account) => ({ service, account, 'xdg:schema': 'org.freedesktop.Secret.Generic' }),
    label: (service, account) => `${service}/${account}`,
    value: 'UTF-8',
  },
  // The crate dbus-secret-service-keyring-store 1.0.1, cred.rs.
  '@napi-rs/keyring': {
    item: (service, account) => ({ service, username: account }),
    label: (service, account) => `keyring:${account}@${service}`,
    value: 'UTF-8',
  },
};
/** A generic password of the login keychain: keytar_mac.cc; the crate apple-native-keyring-store 1.0.2, keychain.rs. */
const macKeychainItem: KeychainForm = {
  item: (service, account) => ({ service, account }),
  label: (service) => service,
  value: 'UTF-8',
};
/** A generic credential, at most 2560 bytes. */
const credentialManager: KeychainForms = {
  // keytar_win.cc.
  keytar: {
    item: (service, account) => ({ target: `${service}/${account}` }),
    label: (service, account) => `${service}/${account}`,
    value: 'UTF-8',
  },
  // The crate windows-native-keyring-store 1.1.0, cred.rs.
  '@napi-rs/keyring': {
    item: (service, account) => ({ target: `${account}.${service}` }),
    label: (service, account) => `${account}.${service}`,
    value: 'UTF-8',
  },
};

/** The table: by system, how each library keeps a value. */
export function keychainForms(platform: NodeJS.Platform): KeychainForms {
  if (platform === 'darwin') return { keytar: macKeychainItem, '@napi-rs/keyring': macKeychainItem };
  return platform === 'win32' ? credentialManager : secretService;
}
