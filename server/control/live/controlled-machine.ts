import type { Logger } from 'pino';
import type { NetworkView } from '../../contract/status-views.ts';
import type { Snapshot } from '../../routing/snapshot.ts';
import type { SecretStore } from '../../secrets/secret-store.ts';

/** The machine on which Sluice runs. */
export interface ControlledMachine {
  log: Logger;
  env: Readonly<Record<string, string | undefined>>;
  ownAddresses: ReadonlySet<string>;
  openSecrets: () => Promise<SecretStore>;
  /** Null if nothing is stored on disk. */
  dataFolder: string | null;
  logFolder: string | null;
  /** One person's own machine: loopback only, no sign-in, no store that is shared. */
  isLaptop(): boolean;
  /** How each provider would be reached now. */
  network(snapshot: Snapshot): Promise<NetworkView>;
}
