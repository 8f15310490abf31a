/**
 * A built Sluice with its own data folder, and the tools of a newcomer: the official client, the command line, HTTP.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import type { CommandInputMap, CommandResults, CommandType } from '../../server/contract/commands.ts';
import type { QueryInputMap, QueryResults, QueryType } from '../../server/contract/queries.ts';
import {
  collectOutput,
  ensureBuilt,
  type Ready,
  type RunningProgram,
  readyOf,
  shownToPerson,
  startProgram,
} from '../support/program.ts';

// `npm start` as a newcomer types it, in its own checkout and HOME, and its output.

/** Parts of the terminal's output once the program is ready; an empty string if a line is absent. */
export interface Shown {
  baseUrl: string;
  key: string;
  window: string;
  curl: string;
}

/** The environment of a user with this HOME, which contains the data, without a keychain or a proxy. */
export function newcomerEnv(home: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    HOME: home,
    SLUICE_DATA_DIR: join(home, 'data'),
    SLUICE_SECRETS: 'file',
    npm_config_update_notifier: 'false',
    no_proxy: '*',
  };
}

/** In its own process group, as in a terminal, so that a signal reaches npm and the program as with Ctrl-C. */
export function startByNpm(cwd: string, env: Record<string, string>): RunningProgram {
  const child = spawn('npm', ['start', '--', '--port', '0'], { cwd, env, detached: true });
  const ended = once(child, 'close').then(([code]): number | null => code);
  return { child, output: collectOutput(child), ended };
}

/** Sends the signal to npm and the program. Does nothing if they have ended. */
export function interrupt({ child }: RunningProgram, signal: NodeJS.Signals): void {
  try {
    process.kill(-(child.pid ?? 0), signal);
  } catch {
    // The process group has ended.
  }
}

/** Rejects with the output if the program ends before it is ready. */
export async function whatIsShown(program: RunningProgram): Promise<Shown> {
  const text = await shownToPerson(program);
  const find = (pattern: RegExp) => pattern.exec(text)?.[1] ?? '';
  return {
    baseUrl: find(/^ {2}Base URL +(\S+)$/m),
    key: find(/^ {2}Key +(\S+)$/m),
    window: find(/^ {2}Window +(\S+)$/m),
    curl: find(/^ {2}(curl .*)$/m),
  };
}

export interface SluiceOptions {
  env?: Record<string, string>;
  /** Written to a file and served from there: an object as JSON, a string unchanged. */
  config?: object | string;
  /** Default: any free port. */
  port?: number;
  /** Sent by `client` and `fetch`. Default: the key that the first run creates. */
  key?: string;
}

interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Sluice {
  readonly folder: string;
  /** From the latest start, like the following members. */
  readonly ready: Ready;
  readonly output: RunningProgram['output'];
  readonly key: string;
  readonly origin: string;
  /** The official client, without retries. */
  readonly client: OpenAI;
  /** Below `/v1`, with the key. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Runs a verb on the same data folder. */
  cli(parameters: readonly string[], options?: { env?: Record<string, string>; input?: string }): Promise<CliResult>;
  execute<T extends CommandType>(command: CommandInputMap[T] & { type: T }): Promise<CommandResults[T]>;
  query<T extends QueryType>(query: QueryInputMap[T] & { type: T }): Promise<QueryResults[T]>;
  /** Calls `/control/…` with the admin token. */
  control(path: string, init?: RequestInit): Promise<Response>;
  /** Resolves with the exit code; null if the signal ended the program. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
  /** Restarts the program on the same folder; `more` is added to its environment for this start. */
  start(more?: Record<string, string>): Promise<void>;
  /** Kills the program and removes the folder. */
  remove(): Promise<void>;
}

/** Runs `serve --json` on a free port. */
export async function startSluice(options: SluiceOptions = {}): Promise<Sluice> {
  await ensureBuilt();
  const folder = mkdtempSync(join(tmpdir(), 'sluice-e2e-'));
  const configFile = join(folder, 'sluice.json');
  const dataDir = join(folder, 'data');
  const { config } = options;
  if (config) writeFileSync(configFile, typeof config === 'string' ? config : JSON.stringify(config));
  const env = options.env ?? {};
  const parameters = ['serve', '--json', '--port', String(options.port ?? 0), '--data-dir', dataDir];
  if (config) parameters.push('--config', configFile);
  const launch = async (more: Record<string, string>) => {
    const started = startProgram(parameters, { env: { ...env, ...more } });
    return { started, ready: await readyOf(started) };
  };
  let { started, ready } = await launch({});
  const key = options.key ?? ready.key ?? '';
  const origin = () => new URL(ready.baseUrl).origin;
  const control = (path: string, init: RequestInit = {}) => {
    const token = readFileSync(join(dataDir, 'admin.token'), 'utf8').trim();
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return fetch(`${origin()}/control${path}`, { ...init, headers });
  };
  const ask = async (path: string, body: object) => {
    const response = await control(path, { method: 'POST', body: JSON.stringify(body) });
    const reply = await response.json();
    if (reply.error) throw new Error(`${response.status} ${reply.error.code}: ${reply.error.message}`);
    return reply.result;
  };
  const end = async (signal: NodeJS.Signals = 'SIGTERM') => {
    started.child.kill(signal);
    return started.ended;
  };
  return {
    folder: dataDir,
    get ready() {
      return ready;
    },
    get output() {
      return started.output;
    },
    key,
    get origin() {
      return origin();
    },
    get client() {
      return new OpenAI({ baseURL: ready.baseUrl, apiKey: key, maxRetries: 0 });
    },
    fetch: (path, init = {}) =>
      fetch(ready.baseUrl + path, {
        ...init,
        headers: { authorization: `Bearer ${key}`, ...Object.fromEntries(new Headers(init.headers)) },
      }),
    async cli(parameters, { env: more = {}, input = '' } = {}) {
      const run = startProgram([...parameters, '--data-dir', dataDir], { env: { ...env, ...more }, input });
      const code = await run.ended;
      return { code, ...run.output };
    },
    execute: (command) => ask('/execute', command),
    query: (query) => ask('/query', query),
    control,
    end,
    async start(more = {}) {
      ({ started, ready } = await launch(more));
    },
    async remove() {
      await end('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
