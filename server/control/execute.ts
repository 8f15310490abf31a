/**
 * Executes commands. A command that changes the configuration is a pure function of it. The result is
 * checked against team locks and stored (`changes/change.ts`), one command at a time.
 */
import { isDeepStrictEqual } from 'node:util';
import type { AnswerCache } from '../cache/answer-cache.ts';
import { type ConfigStore, revisionPassed } from '../config/config-store.ts';
import type { ClearedCache } from '../contract/answer-cache.ts';
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
import { controlError } from '../contract/control-error.ts';
import type { WaitingCaptures } from '../exchange/capture/capture-companion.ts';
import type { FaultSwitch } from '../faults/fault-switch.ts';
import type { MaybePromise } from '../ground/promises.ts';
import type { HealthTracker } from '../routing/health/health-tracker.ts';
import type { CaptureSwitch } from '../store/rules/capture-switch.ts';
import type { Ledger } from '../store/sqlite/ledger.ts';
import { type Change, type ChangeContext, type Changer, onLatestRevision, storeChange } from './changes/change.ts';
import { putAlias, removeAlias } from './changes/change-alias.ts';
import {
  createKey,
  limitPerson,
  putGroup,
  removeGroup,
  revealKey,
  revokeKey,
  revokePerson,
  rotateKey,
  updateKey,
  withoutEndedSecrets,
} from './changes/change-key.ts';
import {
  addProvider,
  removeCredential,
  removeProvider,
  setCredential,
  setProviderEnabled,
  updateProvider,
} from './changes/change-provider.ts';
import { updateSettings } from './changes/change-settings.ts';
import { applyDeclared, applyTeamPreset, checkJoinPreset } from './changes/change-team-preset.ts';
import { type CassetteControl, checkCassette } from './changes/check-cassette.ts';
import type { ConnectClients } from './changes/connect-clients.ts';
import { refuseHostReferences } from './changes/host-references.ts';
import { importConfig } from './changes/import-config.ts';
import { captureScopeOf, faultScopeOf, startCapture, startFaults } from './changes/limited-time.ts';
import { type SessionStops, setSessionStopped } from './changes/stop-session.ts';
import { refuseLocked, type TeamPresets } from './changes/team-presets.ts';
import { tryProvider } from './changes/try-provider.ts';
import { changesBetween, findUpstream } from './entries/change-list.ts';
import { parseInput } from './entries/parse-input.ts';
import { createJoining, type OpenJoining } from './joining.ts';
import type { ControlledMachine, LiveConfig } from './live/live-config.ts';
import type { ProviderKnowledge } from './live/provider-knowledge.ts';
import { type Caller, type CommandFacts, type People, whereSignedIn } from './people/people.ts';
import type { PriceRenewal } from './prices/price-renewal.ts';
import { findRequest, pinRequest, unpinRequest } from './queries/pinned-requests.ts';
import type { Views } from './views/views.ts';

/** Who may use the control plane. */
export interface ControlAccess {
  /** Null where nobody signs in. */
  people: People | null;
  openJoining: OpenJoining;
  createAdminUrl(): string;
  /** Resolves with the number of browsers that were signed in. */
  signOutEverywhere(): Promise<number>;
}

interface ExecutePorts {
  config: ConfigStore;
  live: LiveConfig;
  ledger: Pick<Ledger, 'getSession' | 'getRequest' | 'readCapture' | 'pins'>;
  views: Views;
  context: ChangeContext;
  providers: Pick<ProviderKnowledge, 'refreshModels' | 'findApi' | 'probeNew'>;
  team: TeamPresets;
  clients: Pick<ConnectClients, 'apply' | 'undo' | 'renewKeys'>;
  held: {
    health: Pick<HealthTracker, 'reset' | 'renewed'>;
    cache: Pick<AnswerCache, 'clear'>;
    cassettes: CassetteControl;
    sessions: SessionStops;
    captures: Pick<WaitingCaptures, 'ready'>;
    captureSwitch: CaptureSwitch;
    faults: FaultSwitch;
    renewal: Pick<PriceRenewal, 'check' | 'apply' | 'view'>;
  };
  access: ControlAccess;
  machine: Pick<ControlledMachine, 'openSecrets' | 'env' | 'log'>;
  turns: {
    /** Serialises changes of the configuration. */
    inTurn<Result>(task: () => Promise<Result>): Promise<Result>;
    /** The presets in force have changed. */
    teamChanged(): void;
  };
}

/** Commands that do not change the configuration. */
type OtherType =
  | 'provider.try'
  | 'provider.refresh-models'
  | 'provider.reset-health'
  | 'key.reveal'
  | 'capture.start'
  | 'capture.stop'
  | 'prices.check'
  | 'prices.apply'
  | 'cache.clear'
  | 'cassette.rewind'
  | 'faults.start'
  | 'faults.stop'
  | 'token.create'
  | 'token.revoke'
  | 'person.sign-out'
  | 'scim.token'
  | 'scim.off'
  | 'session.stop'
  | 'session.resume'
  | 'request.pin'
  | 'request.unpin'
  | 'team-preset.leave'
  | 'connect.apply'
  | 'connect.undo'
  | 'team.join'
  | 'team.finish-join'
  | 'team.leave'
  | 'window.create-address'
  | 'window.sign-out-everywhere';
type ChangeType = Exclude<CommandType, OtherType>;

type LoadedChanger<T extends ChangeType> = (...given: Parameters<Changer<T>>) => MaybePromise<ReturnType<Changer<T>>>;

const changers: { [T in ChangeType]: LoadedChanger<T> } = {
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
  'person.limit': limitPerson,
  'person.revoke': revokePerson,
  'group.put': putGroup,
  'group.remove': removeGroup,
  'alias.put': putAlias,
  'alias.remove': removeAlias,
  'settings.update': updateSettings,
  'config.import': importConfig,
  // Loaded on first use, with what reads YAML and TOML.
  'config.adopt': async (...given) => (await import('./adopt/adopt-config.ts')).adoptConfigChange(...given),
  'config.apply': applyDeclared,
  'team-preset.apply': applyTeamPreset,
};

/**
 * Validates its input. If it rejects, with a GatewayError, nothing has changed. `by`: the caller, unless it is the
 * administrator of this machine.
 */
export interface Execute {
  <Input extends CommandInput>(command: Input, by?: Caller): Promise<CommandResults[Input['type']]>;
  (command: unknown, by?: Caller): Promise<CommandResult>;
}

export function createExecute(ports: ExecutePorts): Execute {
  const { live, held, access, turns } = ports;
  const joining = joiningOf(ports, (command) => execute(command));
  const others: { [T in OtherType]: (command: CommandMap[T], by?: Caller) => Promise<CommandResults[T]> } = {
    'provider.try': (command, by) =>
      tryProvider(
        { ...ports, env: ports.machine.env },
        command,
        async (added) => (await planChange(ports, added.type, added, by)).change,
      ),
    'provider.refresh-models': async ({ id }) => {
      await ports.providers.refreshModels(findUpstream(live, id));
      return { provider: ports.views.provider(id) };
    },
    'provider.reset-health': async ({ id, credential }) => {
      const upstream = findUpstream(live, id);
      held.health.reset(id, credential);
      if (credential === undefined) void ports.providers.refreshModels(upstream);
      return { provider: ports.views.provider(id) };
    },
    'capture.start': async (command) => startCapture({ ...ports, ...held }, command),
    'capture.stop': async (scope) => {
      held.captureSwitch.stop(captureScopeOf(scope));
      return { timed: held.captureSwitch.timed };
    },
    ...priceCommands(held),
    'cache.clear': async ({ group }) => clearCache({ live, cache: held.cache }, group ?? null),
    'cassette.rewind': async ({ folder }) => {
      held.cassettes.rewind(folder ?? null);
      return {};
    },
    'faults.start': (command) => startFaults({ live, faults: held.faults }, command),
    'faults.stop': async (scope) => {
      held.faults.stop(faultScopeOf(scope));
      return { faults: held.faults.timed };
    },
    'token.create': async (command, by) => whereSignedIn(access.people).createToken(command, by),
    'token.revoke': async (command, by) => whereSignedIn(access.people).revokeToken(command, by),
    'person.sign-out': async ({ id }) => whereSignedIn(access.people).signOut(id),
    'scim.token': () => whereSignedIn(access.people).createScimToken(),
    'scim.off': () => whereSignedIn(access.people).endScim(),
    ...ofTraffic(ports),
    'key.reveal': async ({ id }) => ({ secret: await revealKey({ config: ports.config, ...ports.machine }, id) }),
    'team-preset.leave': () => leaveTeamPreset(ports),
    'connect.apply': (command) => turns.inTurn(() => ports.clients.apply(command)),
    'connect.undo': (command) => turns.inTurn(() => ports.clients.undo(command)),
    'team.join': async (command) => {
      refuseReadOnly(ports.config);
      return joining.begin(command);
    },
    'team.finish-join': joining.finish,
    'team.leave': joining.leave,
    'window.create-address': async () => ({ url: access.createAdminUrl() }),
    'window.sign-out-everywhere': async () => ({ ended: await access.signOutEverywhere() }),
  };
  const isOther = (command: Command): command is CommandMap[OtherType] => command.type in others;
  const runOther = <T extends OtherType>(type: T, command: CommandMap[T], by?: Caller) => others[type](command, by);

  const execute = async (input: unknown, by?: Caller): Promise<CommandResult> => {
    const command = parseInput(commandSchema, input, 'command');
    const shown = by ? await whereSignedIn(access.people).permit(command, by, factsOf(ports)) : null;
    if (isOther(command)) {
      const result = await runOther(command.type, command, by);
      await access.people?.note({ command, by, changes: [] });
      return shown ? shown(command.type, result) : result;
    }
    return turns.inTurn(() => applyChange(ports, command, by));
  };
  // Safe, because the types of `changers` and `others` pair each command with its result.
  return execute as Execute;
}

async function leaveTeamPreset({
  team: { memory },
  turns,
}: ExecutePorts): Promise<CommandResults['team-preset.leave']> {
  await turns.inTurn(() => memory.write({ applied: memory.current.applied, imported: null }));
  turns.teamChanged();
  return {};
}

function priceCommands({ renewal }: ExecutePorts['held']) {
  return {
    'prices.check': async () => {
      await renewal.check();
      return { renewal: renewal.view() };
    },
    'prices.apply': async ({ which }: CommandMap['prices.apply']) => {
      const applied = await renewal.apply(which);
      return { applied, renewal: renewal.view() };
    },
  };
}

function joiningOf({ live, team, access }: ExecutePorts, execute: (command: CommandInput) => Promise<unknown>) {
  return createJoining(access.openJoining, {
    providers: () => live.used.config.providers,
    isManaged: () => team.managed.current !== null,
    presetGateway: () => team.memory.current.gateway ?? null,
    nowMs: Date.now,
    addProvider: (command) => execute(command) as Promise<CommandResults['provider.add']>,
    removeProvider: (command) => execute(command),
  });
}

function factsOf({ live, ledger }: Pick<ExecutePorts, 'live' | 'ledger'>): CommandFacts {
  return {
    config: live.used.config,
    session: async (id) => (await ledger.getSession(id))?.session ?? null,
    request: (id) => findRequest(ledger, id),
  };
}

/** Commands about one session or request. */
function ofTraffic({ ledger, live, held }: ExecutePorts) {
  return {
    'session.stop': ({ id }: CommandMap['session.stop']) => setSessionStopped(held.sessions, id, true),
    'session.resume': ({ id }: CommandMap['session.resume']) => setSessionStopped(held.sessions, id, false),
    'request.pin': (command: CommandMap['request.pin']) =>
      pinRequest({ ...held, ledger, snapshot: live.snapshot }, command),
    'request.unpin': ({ id }: CommandMap['request.unpin']) => unpinRequest(ledger, id),
  };
}

function clearCache(
  { cache, live }: Pick<ExecutePorts['held'], 'cache'> & Pick<ExecutePorts, 'live'>,
  group: string | null,
): ClearedCache {
  const isThere = group === null || live.used.config.groups.some(({ id }) => id === group);
  if (!isThere) throw controlError('not_found', { code: 'no-group', id: group }, 'group');
  return cache.clear(group);
}

function refuseReadOnly({ readOnly }: ConfigStore): void {
  if (readOnly) throw controlError('read_only', { code: 'read-only' });
}

async function applyChange(
  ports: ExecutePorts,
  command: CommandMap[ChangeType],
  by: Caller | undefined,
): Promise<CommandResults[ChangeType]> {
  // A key that the person makes meanwhile is revoked with the others, or refused (`permitOn`).
  if (command.type === 'person.revoke') await whereSignedIn(ports.access.people).signOut(command.id);
  const { change, current, stored, committed } =
    command.expectedRevision === undefined
      ? await onLatestRevision(() => planAndStore(ports, command, by))
      : await planAndStore(ports, command, by);
  if (!isDeepStrictEqual(current.keys, stored.config.keys)) {
    await ports.clients
      .renewKeys()
      .catch((err) => ports.machine.log.warn({ err }, 'a file with the key of a client is as it was'));
  }
  await ports.access.people?.note({ command, by, changes: changesBetween(current, stored.config) });
  if (change.renewed) ports.held.health.renewed(change.renewed.provider, change.renewed.credential);
  return change.result({ revision: committed, views: ports.views });
}

async function planAndStore(ports: ExecutePorts, command: CommandMap[ChangeType], by: Caller | undefined) {
  const { change, current, revision } = await planChange(ports, command.type, command, by);
  if (!isDeepStrictEqual(change.config.settings.joinPreset, current.settings.joinPreset)) {
    checkJoinPreset(change.config.settings);
  }
  await checkCassette(ports.held.cassettes, command, current);
  const stored = { ...change, config: withoutEndedSecrets(change.config, ports.context.now()) };
  const committed = await storeChange({ ...ports, ...ports.machine }, stored, revision);
  return { change, current, stored, committed };
}

interface PlannedChange<T extends ChangeType> {
  change: Change<CommandResults[T]>;
  current: Config;
  revision: number;
}

/** What the command would change, unless somebody or something forbids it. */
async function planChange<T extends ChangeType>(
  ports: ExecutePorts,
  type: T,
  command: CommandMap[T],
  by: Caller | undefined,
): Promise<PlannedChange<T>> {
  const { config } = ports;
  refuseReadOnly(config);
  const { config: current, revision } = config.current;
  // Checked again, because the configuration may have changed while this command waited its turn.
  if (by) await whereSignedIn(ports.access.people).permitOn(current, command, by);
  if (command.expectedRevision !== undefined && command.expectedRevision !== revision) throw revisionPassed();
  const change = await makeChange(type, command, {
    config: current,
    context: { ...ports.context, by: by?.person ?? null },
  });
  if (by) refuseHostReferences({ command, before: current, after: change.config });
  // The locks of an imported preset do not apply when it is removed or replaced, for example by a newer version of
  // itself.
  refuseLocked(
    current,
    change.config,
    ports.team.locks(current, change.importedPreset === undefined ? 'all' : 'managed'),
  );
  return { change, current, revision };
}

function makeChange<T extends ChangeType>(
  type: T,
  command: CommandMap[T],
  { config, context }: { config: Config; context: ChangeContext },
): MaybePromise<Change<CommandResults[T]>> {
  return changers[type](config, command, context);
}
