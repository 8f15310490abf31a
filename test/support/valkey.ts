/** A separate Valkey (or Redis) server for tests, on a free port of this machine and in a temporary folder. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'iovalkey';
import { findValkey } from './find-servers.ts';
import { onlyIf } from './only-if.ts';
import { freePort } from './ports.ts';
import { endProcess, untilServing } from './program.ts';

export interface ValkeyServer {
  readonly port: number;
  readonly url: string;
  /** Ends the server like a crash: its data in memory is lost. */
  kill(): Promise<void>;
  /** On the same port as before. */
  start(): Promise<void>;
  /** The server stays connected but answers nothing until `go`. */
  pause(): void;
  go(): void;
  /** Sends a command, such as `['CONFIG', 'SET', …]`. Resolves with the reply as text. */
  command(...words: string[]): Promise<string>;
  /** Ends the server, and removes its folder. */
  stop(): Promise<void>;
}

/** For `runIf`. With CI=true, a missing server is a failure. */
export function hasValkey(): boolean {
  return onlyIf(
    findValkey() !== null || process.env.CI === 'true',
    'there is no Valkey or Redis server (Debian: redis-server)',
  );
}

/** `more`: additional parameters of the server. */
export async function startValkey(...more: string[]): Promise<ValkeyServer> {
  const program = findValkey();
  if (program === null) throw new Error('There is no Valkey or Redis server. On Debian: apt-get install redis-server.');
  const folder = mkdtempSync(join(tmpdir(), 'sluice-valkey-'));
  const port = await freePort();
  const parameters = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', ...more];
  let running = await run(program, parameters);
  const secret = more[more.indexOf('--requirepass') + 1];
  const login = more.includes('--requirepass') ? `:${secret}@` : '';
  return {
    port,
    url: `valkey://${login}127.0.0.1:${port}`,
    kill: () => endProcess(running, 'SIGKILL'),
    async start() {
      running = await run(program, parameters);
    },
    pause: () => void running.kill('SIGSTOP'),
    go: () => void running.kill('SIGCONT'),
    async command(...words) {
      const client = new Redis(`redis://${login}127.0.0.1:${port}`, { lazyConnect: true, retryStrategy: () => null });
      await client.connect();
      const [name = '', ...rest] = words;
      const reply = await client.call(name, ...rest);
      client.disconnect();
      return String(reply);
    },
    async stop() {
      running.kill('SIGCONT');
      await endProcess(running, 'SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function run(program: string, parameters: string[]): Promise<ChildProcess> {
  const server = spawn(program, parameters, { stdio: ['ignore', 'pipe', 'ignore'] });
  await untilServing('Valkey', server.stdout, 'Ready to accept connections');
  return server;
}
