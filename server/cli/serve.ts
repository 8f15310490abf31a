/** `sluice serve`: claims the data folder, runs the engine until a signal arrives, and prints where it listens. */
import { reachableOrigin } from '../contract/address.ts';
import type { CassetteMode } from '../contract/cassette.ts';
import type { Config } from '../contract/config.ts';
import { wantsDemo } from '../control/live/live-config.ts';
import { claimFolder } from '../data-folder/claim-folder.ts';
import type { InstanceInfo } from '../data-folder/instance-lock.ts';
import type { Environment } from '../engine/environment.ts';
import { type Engine, openEngine } from '../engine/open-engine.ts';
import type { PeopleOptions } from '../engine/team.ts';
import { switchFastPaths, tuneV8 } from '../ground/fast-paths.ts';
import { followFile } from '../ground/files/follow-file.ts';
import { systemErrorCode } from '../ground/files/regular-file.ts';
import { packageName, version } from '../ground/version.ts';
import { resolveSecret, secretFileOf } from '../secrets/secret-store.ts';
import { messageOf } from '../store/rules/failures.ts';
import { notifyStarter } from './detach.ts';
import { endSignals, maxShutdownMs, type ShutdownTimes, shutDownGracefully } from './graceful-shutdown.ts';
import { describeTakenPort } from './port-holder.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import { type LoadTeam, partFor } from './team.ts';
import type { Terminal } from './terminal.ts';
import { openBrowser } from './window.ts';

export interface ServeOptions {
  dataDir: string;
  environment: Environment;
  port?: number | undefined;
  host?: string | undefined;
  /** A declarative configuration that is used instead of the data folder's. */
  configFile?: string | undefined;
  /** The server that counts limits together with other replicas: a URL, or a reference to it. */
  shared?: string | undefined;
  /** Records the requests, or answers them from recordings. */
  cassette?: CassetteOptions | undefined;
  shutdown: ShutdownTimes;
  /** How long the start waits for a database that cannot be used yet. */
  storeTimeoutMs: number;
  /** Sign-in of people; absent: none. */
  people?: PeopleOptions | undefined;
  /** Opens the window in the browser. */
  open: boolean;
  json: boolean;
}

interface CassetteOptions {
  folder: string;
  mode: CassetteMode;
  pace: number;
}

interface Address {
  host: string;
  port: number;
}

/**
 * Resolves once Sluice listens and has printed that. A signal ends the process. Rejects with advice if it cannot start.
 */
export async function serve(options: ServeOptions, terminal: Terminal, loadTeam: LoadTeam): Promise<void> {
  const notice = (line: string) => void terminal.stderr.write(`${line}\n`);
  // Without a listener, SIGHUP would end the process. `shutDownGracefully` handles it once there is a configuration to read
  // again.
  process.on('SIGHUP', () => {});
  if (options.environment.fastPaths === false) switchFastPaths(false);
  tuneV8();
  const cassette = options.cassette && (await openCassette(options.cassette, notice));
  if (options.people) partFor('--public-url', await loadTeam());
  const shared = options.shared === undefined ? null : await connectShared(options.shared, terminal.env, loadTeam);
  const claim = await claimFolder(options.dataDir);
  if ('holder' in claim) {
    shared?.close();
    throw alreadyRunning(options.dataDir, claim.holder);
  }
  const listen = {
    ...(options.host && { host: options.host }),
    ...(options.port !== undefined && { port: options.port }),
  };
  const startsToTheEnd = endAtOnceOnSignal();
  const engine = await openEngine(claim, {
    environment: options.environment,
    storeTimeoutMs: options.storeTimeoutMs,
    env: terminal.env,
    configFile: options.configFile,
    windowFolders: terminal.windowFolders,
    teamPresets: terminal.teamPresets,
    loadTeam: terminal.loadTeam,
    listen,
    cassette: cassette?.deck,
    openReplicaLimits: shared?.open,
    people: options.people,
    saysWhereSecretsAre: true,
    notice,
  }).catch((error: unknown) => {
    shared?.close();
    throw error;
  });
  const address = await start(engine, { ...engine.config.current.config.settings, ...listen });
  await claim.lock.update({
    ...address,
    instanceId: engine.gateway.instanceId,
    longestEndMs: maxShutdownMs(options.shutdown),
  });
  // So that `ps` and `top` tell replicas on one machine apart.
  process.title = `sluice:${address.port}`;
  engine.logFile.log.info({ ...address, pid: process.pid, version }, 'started');
  startsToTheEnd();
  const reload = async () => {
    await shared?.read(engine.logFile.log);
    await engine.reload();
  };
  const close = (drainMs?: number) => engine.close(drainMs).then(cassette?.summarize);
  shutDownGracefully({ ...engine, reload, close }, options.shutdown, notice);
  shared?.follow(engine.logFile.log);
  const ready = await describeStart(engine, options).catch(async (error: unknown) => {
    await engine.close(0);
    throw error;
  });
  const command = commandName(terminal.env);
  const readyText = options.json ? readyLine(ready) : describeReady(ready, engine.config.current.config, command);
  terminal.stdout.write(readyText);
  notifyStarter(readyText);
  if (options.open) openBrowser(ready.windowUrl, notice);
}

/**
 * While it starts, a signal ends the process: the first process of a container would otherwise ignore it. Returns the
 * function that stops this.
 */
function endAtOnceOnSignal(): () => void {
  const end = (_: NodeJS.Signals, code: number) => process.exit(128 + code);
  for (const signal of endSignals) process.on(signal, end);
  return () => {
    for (const signal of endSignals) process.off(signal, end);
  };
}

/** Imported only if it is used. */
async function openCassette(options: CassetteOptions, notice: (line: string) => void) {
  const { OpenCassette } = await import('../cassettes/deck.ts');
  const { describeSummary } = await import('./run-with-cassette.ts');
  const deck = await OpenCassette.open({ ...options, problem: notice });
  return { deck, summarize: () => notice(describeSummary(deck.summary, options.mode, options.folder)) };
}

/** The server that counts limits for all replicas. Its user and password are read again when their file changes. */
async function connectShared(urlOrReference: string, env: Terminal['env'], loadTeam: LoadTeam) {
  const connected = await partFor('--shared', await loadTeam()).connectReplicas(await readShared(urlOrReference, env));
  const read = async (log: Log) => {
    try {
      connected.renew(await readShared(urlOrReference, env));
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'the address of Valkey cannot be read again; it stays as it was');
    }
  };
  return {
    ...connected,
    read,
    follow(log: Log) {
      const path = secretFileOf(urlOrReference);
      if (path !== null) followFile(path, () => void read(log));
    },
  };
}

type Log = Engine['logFile']['log'];

/** Other users of the machine can read the arguments of a process, so a password must not be among them. */
async function readShared(urlOrReference: string, env: Terminal['env']): Promise<string> {
  if (!/^(?:env|file):/.test(urlOrReference)) return urlOrReference;
  const url = await resolveSecret(urlOrReference, { name: '--shared', store: { get: async () => undefined }, env });
  if (url === undefined) throw new CliError(`--shared: ${urlOrReference} is missing or empty.`, exitCodes.usage);
  return url;
}

async function start(engine: Engine, address: Address): Promise<Address> {
  try {
    return await engine.gateway.start();
  } catch (error) {
    await engine.close();
    throw await explain(error, address);
  }
}

async function explain(error: unknown, { host, port }: Address): Promise<unknown> {
  switch (systemErrorCode(error)) {
    case 'EADDRINUSE':
      return new CliError(await describeTakenPort(host, port));
    case 'EACCES':
      return new CliError(`You may not listen on port ${port}: choose one above 1023 with --port.`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new CliError(`${host} is not an address of this machine: choose another with --host.`);
    default:
      return error;
  }
}

async function describeStart({ gateway, config }: Engine, { environment, people }: ServeOptions): Promise<Ready> {
  // The output of a gateway that people share ends up in logs, and several replicas may start at once: its administrator
  // makes the first key.
  const isShared = environment.store !== undefined || people !== undefined;
  const key =
    config.isFirstRun && !isShared ? await gateway.execute({ type: 'key.create', name: 'First key' }) : undefined;
  return {
    baseUrl: gateway.baseUrl(),
    windowUrl: gateway.createAdminUrl(),
    ...(key && { key: key.secret }),
    pid: process.pid,
  };
}

function alreadyRunning(dataDir: string, { pid, host, port }: InstanceInfo): CliError {
  const where = host !== null && port !== null ? `at ${reachableOrigin({ host, port })}` : 'which does not listen yet';
  return new CliError(
    `Sluice is already running on the data folder ${dataDir}: process ${pid}, ${where}. Use that one, stop it, or choose another folder with --data-dir.`,
    exitCodes.alreadyRunning,
  );
}

// The output of `serve` once it is ready: JSON for scripts, or text.

interface Ready {
  baseUrl: string;
  windowUrl: string;
  /** Only set on the first run, which creates it. */
  key?: string;
  pid: number;
}

/** The single line that `serve --json` prints. */
function readyLine({ baseUrl, windowUrl, key, pid }: Ready): string {
  return `${JSON.stringify({ event: 'ready', baseUrl, windowUrl, key, pid })}\n`;
}

/** The command to show to the user: through npm where it was started by npm, otherwise by name. */
export function commandName(env: Readonly<Record<string, string | undefined>>): string {
  const { npm_lifecycle_event: script, npm_package_name: project } = env;
  if (script === undefined) return 'sluice';
  const isCheckout = script !== 'npx' && project === packageName;
  return isCheckout ? 'npm run -s sluice --' : `npx ${packageName}`;
}

function describeReady(ready: Ready, config: Config, command: string): string {
  const isDemo = wantsDemo(config);
  const lines = [
    'Sluice is ready.',
    '',
    `  Base URL  ${ready.baseUrl}`,
    ...(ready.key ? [`  Key       ${ready.key}`] : []),
    `  Window    ${ready.windowUrl}`,
    `            (works once, within ten minutes; "${command} window" prints a new one)`,
    '',
    ...(isDemo ? [`The built-in demo invents its answers. To add a provider: ${command} provider add --help`] : []),
    `Try it${keyHint(ready, config, command)}:`,
    '',
    `  ${curlLine(ready.baseUrl, ready.key ?? keyVariable(config), isDemo)}`,
    '',
  ];
  return `${lines.join('\n')}\n`;
}

function keyHint({ key }: Ready, config: Config, command: string): string {
  const variable = keyVariable(config);
  if (key) return '';
  return ` with a key in ${variable} ("${command} key create" creates one)`;
}

/** Uses the shell's syntax. In a declarative configuration, the key's secret may be in another variable. */
function keyVariable({ keys }: Config): string {
  const reference = keys.find((key) => key.enabled && /^env:\w+$/.test(key.secret ?? ''))?.secret ?? 'env:SLUICE_KEY';
  const name = reference.slice('env:'.length);
  return process.platform === 'win32' ? `%${name}%` : `$${name}`;
}

/** A command that works without changes: a chat with the demo, otherwise the list of models. */
function curlLine(baseUrl: string, key: string, isDemo: boolean): string {
  const authorization = `-H "Authorization: Bearer ${key}"`;
  if (!isDemo) return `curl ${baseUrl}/models ${authorization}`;
  const body = '{"model":"demo-chat","messages":[{"role":"user","content":"Hello"}]}';
  const quotedBody = process.platform === 'win32' ? `"${body.replaceAll('"', '\\"')}"` : `'${body}'`;
  return `curl ${baseUrl}/chat/completions ${authorization} -H "Content-Type: application/json" -d ${quotedBody}`;
}
