import type { ConfigStore } from '../../config/config-store.ts';
import type { CommandMap } from '../../contract/commands.ts';
import type { ConnectClientView, ConnectPreview } from '../../contract/connect-views.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { QueryMap } from '../../contract/queries.ts';
import type { SecretStore } from '../../secrets/secret-store.ts';
import { findById } from '../entries/change-list.ts';
import { hashKeySecret, revealKey } from './change-key.ts';

interface ConnectClientsPorts {
  config: ConfigStore;
  openSecrets: () => Promise<SecretStore>;
  env: Readonly<Record<string, string | undefined>>;
  dataFolder: string | null;
  /** The base URL to give to clients. */
  baseUrl(): string;
  now(): number;
}

/** The commands and queries about clients' configuration files. */
export interface ConnectClients {
  list(): Promise<ConnectClientView[]>;
  preview(query: QueryMap['connect-preview']): Promise<ConnectPreview>;
  previewUndo(client: string): Promise<ConnectPreview>;
  apply(command: CommandMap['connect.apply']): Promise<Record<string, never>>;
  undo(command: CommandMap['connect.undo']): Promise<Record<string, never>>;
  /** Keys were changed: clients that read theirs from a file of Sluice get the new secret, or none if it was revoked. */
  renewKeys(): Promise<void>;
}

export function createConnectClients(ports: ConnectClientsPorts): ConnectClients {
  const isInForce = (keyId: string, secret: string) => {
    const key = ports.config.current.config.keys.find(({ id }) => id === keyId);
    return key !== undefined && (key.hash === undefined || key.hash === hashKeySecret(secret));
  };
  // Loaded on first use: the editors of JSON, TOML and YAML would slow down each start.
  const loadDesk = async () => {
    const { createConnectService } = await import('../../connect/connect-service.ts');
    return createConnectService({ ...ports, isInForce });
  };
  let loaded: ReturnType<typeof loadDesk> | undefined;
  const service = () => {
    loaded ??= loadDesk();
    return loaded;
  };
  const wantedClient = ({ client, key, model, secret }: QueryMap['connect-preview'] | CommandMap['connect.apply']) => {
    findById(ports.config.current.config.keys, key, 'key');
    return {
      client,
      keyId: key,
      model,
      baseUrl: ports.baseUrl(),
      secret: async () => secret ?? (await revealKey(ports, key)),
    };
  };
  const secretInForce = async (keyId: string, held: string) => {
    const key = ports.config.current.config.keys.find(({ id }) => id === keyId);
    if (!key || key.hash === hashKeySecret(held)) return key ? held : null;
    return revealKey(ports, keyId).catch((error) => {
      if (error instanceof GatewayError && error.code === 'not_found') return null;
      throw error;
    });
  };
  return {
    renewKeys: async () => {
      if (ports.dataFolder === null) return;
      const { renewKeyFiles } = await import('../../connect/applied-store.ts');
      await renewKeyFiles(ports.dataFolder, secretInForce);
    },
    list: async () => (await service()).list(ports.baseUrl()),
    preview: async (query) => (await service()).preview(wantedClient(query)),
    previewUndo: async (client) => (await service()).previewUndo(client),
    async apply(command) {
      await (await service()).apply(wantedClient(command), command.fingerprint);
      return {};
    },
    async undo({ client, fingerprint }) {
      await (await service()).undo(client, fingerprint);
      return {};
    },
  };
}
