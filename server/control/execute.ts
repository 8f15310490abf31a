/**
 * Carries out what a command makes of the configuration: secrets first, then the configuration, then everything that
 * follows from it; deletions last. A crash anywhere in between leaves a secret that nothing refers to, never a
 * configuration that refers to nothing. One at a time.
 */
import type { ConfigStore } from '../config/config-store.ts';
import {
  type Command,
  type CommandInput,
  type CommandMap,
  type CommandResult,
  type CommandResults,
  type CommandType,
  commandSchema,
} from '../contract/commands.ts';
import type { Config } from '../contract/config.ts';
import { GatewayError } from '../contract/errors.ts';
import type { SecretStore } from '../secrets/secret-store.ts';
import { createSerialQueue } from '../serial-queue.ts';
import type { Change, ChangeContext, Changer } from './change.ts';
import { putAlias, removeAlias } from './change-alias.ts';
import { removeCredential, setCredential } from './change-credential.ts';
import { putGroup, removeGroup } from './change-group.ts';
import { createKey, revokeKey, rotateKey, updateKey } from './change-key.ts';
import { addProvider, removeProvider, setProviderEnabled, updateProvider } from './change-provider.ts';
import { updateSettings } from './change-settings.ts';
import { findUpstream } from './find-upstream.ts';
import { importConfig } from './import-config.ts';
import type { LiveConfig } from './live-config.ts';
import { parseInput } from './parse-input.ts';
import type { ProviderKnowledge } from './provider-knowledge.ts';
import { revealKey } from './reveal-key.ts';
import type { Views } from './views.ts';

export interface ExecutePorts {
  config: ConfigStore;
  openSecrets: () => Promise<SecretStore>;
  env: Readonly<Record<string, string | undefined>>;
  context: ChangeContext;
  views: Views;
  live: LiveConfig;
  providers: Pick<ProviderKnowledge, 'refreshModels'>;
  createAdminUrl(): string;
  log: { warn(fields: object, message: string): void };
}

/** Commands that touch no configuration. */
type OtherType = 'provider.refresh-models' | 'key.reveal' | 'window.create-address';
type ChangeType = Exclude<CommandType, OtherType>;

const changers: { [T in ChangeType]: Changer<T> } = {
  'provider.add': addProvider,
  'provider.update': updateProvider,
  'provider.remove': removeProvider,
  'provider.set-enabled': setProviderEnabled,
  'credential.set': setCredential,
  'credential.remove': removeCredential,
  'key.create': createKey,
  'key.update': updateKey,
  'key.rotate': rotateKey,
  'key.revoke': revokeKey,
  'group.put': putGroup,
  'group.remove': removeGroup,
  'alias.put': putAlias,
  'alias.remove': removeAlias,
  'settings.update': updateSettings,
  'config.import': importConfig,
};

/** Takes anything and checks it. Rejects with a GatewayError; then nothing has changed. */
export interface Execute {
  <Input extends CommandInput>(command: Input): Promise<CommandResults[Input['type']]>;
  (command: unknown): Promise<CommandResult>;
}

export function createExecute(ports: ExecutePorts): Execute {
  const inTurn = createSerialQueue();
  const others: { [T in OtherType]: (command: CommandMap[T]) => Promise<CommandResults[T]> } = {
    'provider.refresh-models': async ({ id }) => {
      await ports.providers.refreshModels(findUpstream(ports.live, id));
      return { provider: ports.views.provider(id) };
    },
    'key.reveal': async ({ id }) => ({ secret: await revealKey(ports, id) }),
    'window.create-address': async () => ({ url: ports.createAdminUrl() }),
  };
  const isOther = (command: Command): command is CommandMap[OtherType] => command.type in others;
  const runOther = <T extends OtherType>(type: T, command: CommandMap[T]) => others[type](command);

  const execute = async (input: unknown): Promise<CommandResult> => {
    const command = parseInput(commandSchema, input, 'command');
    if (isOther(command)) return runOther(command.type, command);
    return inTurn(() => carryOut(ports, command));
  };
  // Each handler's result is that of its command's type, by the types of `changers` and `others`.
  return execute as Execute;
}

async function carryOut(ports: ExecutePorts, command: CommandMap[ChangeType]): Promise<CommandResults[ChangeType]> {
  const { config } = ports;
  if (config.readOnly) {
    throw new GatewayError(
      'read_only',
      'The configuration comes from a file that Sluice does not write: change that file and start Sluice again.',
    );
  }
  const { revision } = config.current;
  if (command.expectedRevision !== undefined && command.expectedRevision !== revision) throw outdated();
  const change = makeChange(command.type, command, { config: config.current.config, context: ports.context });
  const committed = await commitWithSecrets(ports, change, revision);
  await ports.live.inForce();
  await forget(ports, change.forget ?? []);
  return change.result({ revision: committed, views: ports.views });
}

function makeChange<T extends ChangeType>(
  type: T,
  command: CommandMap[T],
  { config, context }: { config: Config; context: ChangeContext },
): Change<CommandResults[T]> {
  return changers[type](config, command, context);
}

/** Returns the new revision. */
async function commitWithSecrets(ports: ExecutePorts, change: Change<unknown>, revision: number): Promise<number> {
  const undo: (() => Promise<void>)[] = [];
  try {
    for (const { name, value } of change.save ?? []) {
      const store = await ports.openSecrets();
      const old = await store.get(name);
      undo.push(() => (old === undefined ? store.delete(name) : store.set(name, old)));
      await store.set(name, value);
    }
    return (await ports.config.commit(change.config, revision)).revision;
  } catch (error) {
    for (const step of undo) await step().catch(() => ports.log.warn({}, 'a secret of a failed command is left over'));
    throw error;
  }
}

/** The change is done; a secret that cannot be deleted is harmless, since nothing refers to it any more. */
async function forget(ports: ExecutePorts, names: readonly string[]): Promise<void> {
  for (const name of names) {
    try {
      await (await ports.openSecrets()).delete(name);
    } catch (error) {
      ports.log.warn({ name, error }, 'a secret could not be deleted');
    }
  }
}

function outdated(): GatewayError {
  return new GatewayError(
    'conflict',
    'The configuration was changed by someone else in the meantime. Look at it again and repeat the change.',
  );
}
