import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';

const cli = join(import.meta.dirname, '../../../server/cli.ts');

export interface CliOptions {
  env?: Record<string, string>;
  /** Written to stdin, which then ends. */
  input?: string;
  /** In place of the sources. */
  program?: string;
}

export interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Ready {
  event: string;
  baseUrl: string;
  windowUrl: string;
  key?: string;
  pid: number;
}

export interface Serving {
  ready: Ready;
  child: ChildProcess;
  /** So far. */
  output: { stdout: string; stderr: string };
  /** Resolves with the exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

const running = new Set<ChildProcess>();
const folders: string[] = [];

afterEach(async () => {
  for (const child of running) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-cli-'));
  folders.push(folder);
  return folder;
}

/** Runs a verb to its end. Secrets go to the encrypted file unless `env` says otherwise. */
export async function runCli(parameters: string[], options: CliOptions = {}): Promise<CliResult> {
  const { child, output } = start(parameters, options);
  child.stdin?.end(options.input ?? '');
  const [code] = await once(child, 'close');
  return { code, ...output };
}

/** A verb that goes on until something ends it. */
export function spawnCli(parameters: string[], options: CliOptions = {}) {
  const { child, output } = start(parameters, options);
  return { output, ended: once(child, 'close').then(([code]): number | null => code) };
}

/** The result of a verb as JSON; throws what it said if it failed. */
export async function runJson(parameters: string[], options: CliOptions = {}): Promise<unknown> {
  const { code, stdout, stderr } = await runCli([...parameters, '--json'], options);
  if (code !== 0) throw new Error(`${parameters.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}

/** `serve --json` on a free port; resolves when it is ready, rejects with what it said if it ends before. */
export async function serve(dataDir: string, parameters: string[] = [], options: CliOptions = {}): Promise<Serving> {
  const { child, output } = start(['serve', '--json', '--port', '0', '--data-dir', dataDir, ...parameters], options);
  child.stdin?.end();
  const ready = await new Promise<Ready>((resolve, reject) => {
    child.stdout?.on('data', () => {
      if (output.stdout.includes('\n')) resolve(JSON.parse(output.stdout));
    });
    child.once('exit', (code) => reject(new Error(`serve ended with ${code}: ${output.stderr}`)));
  });
  return {
    ready,
    child,
    output,
    async end(signal = 'SIGTERM') {
      if (child.exitCode !== null) return child.exitCode;
      child.kill(signal);
      const [code] = await once(child, 'exit');
      return code;
    },
  };
}

/** `serve` on a free port as a person starts it; resolves with what is shown, up to the line to try. */
export async function serveForPerson(parameters: string[], env: Record<string, string> = {}): Promise<string> {
  const { child, output } = start(['serve', '--port', '0', ...parameters], { env });
  while (!/^ {2}curl .*\n/m.test(output.stdout)) {
    if (child.exitCode !== null) throw new Error(`serve ended with ${child.exitCode}: ${output.stderr}`);
    await Promise.race([once(child.stdout ?? child, 'data'), once(child, 'exit')]);
  }
  return output.stdout;
}

function start(parameters: string[], { env = {}, program = cli }: CliOptions) {
  const child = spawn(process.execPath, [program, ...parameters], {
    env: { PATH: process.env.PATH, HOME: tmpdir(), SLUICE_SECRETS: 'file', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  // A program that ended before it read its input is no fault of the test.
  child.stdin?.on('error', () => {});
  const output = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (piece) => {
    output.stdout += piece;
  });
  child.stderr?.setEncoding('utf8').on('data', (piece) => {
    output.stderr += piece;
  });
  return { child, output };
}
