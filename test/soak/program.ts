/** The built Sluice as a child process that can report the resources it holds. */
import { type ChildProcess, spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConfigInput } from '../../server/contract/config.ts';
import type { StatusView } from '../../server/contract/status-views.ts';
import { checkout, collectOutput, ensureBuilt, readyOf } from '../support/program.ts';
import type { Held } from './heap-probe.ts';

/** The resources held at an idle moment. */
export interface Measure extends Held {
  descriptors: number;
  /** Uploads in transit. */
  spooledFiles: number;
  /** Rows waiting to be written. */
  ledgerPending: number;
  /** Requests that the ledger considers running. */
  ledgerRunning: number;
}

export interface SoakedProgram {
  baseUrl: string;
  measure(): Promise<Measure>;
  /** Ends the program; resolves with its exit code. */
  end(): Promise<number | null>;
  remove(): void;
}

const answerLimitMs = 10_000;

export async function startSoaked(config: ConfigInput, env: Record<string, string>): Promise<SoakedProgram> {
  await ensureBuilt();
  const folder = mkdtempSync(join(tmpdir(), 'sluice-soak-'));
  const [configFile, dataDir] = [join(folder, 'sluice.json'), join(folder, 'data')];
  writeFileSync(configFile, JSON.stringify(config));
  const program = join(checkout, 'dist/program/cli.js');
  const flags = ['--expose-gc', '--import', join(import.meta.dirname, 'heap-probe.ts')];
  const serve = ['serve', '--json', '--port', '0', '--data-dir', dataDir, '--config', configFile];
  const child = spawn(process.execPath, [...flags, program, ...serve], {
    env: { PATH: process.env.PATH, HOME: folder, SLUICE_SECRETS: 'file', ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const output = collectOutput(child);
  const ended = once(child, 'close').then(([code]): number | null => code);
  const { baseUrl } = await readyOf({ child, output, ended });
  const query = async (body: object) => {
    const token = readFileSync(join(dataDir, 'admin.token'), 'utf8').trim();
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const url = `${new URL(baseUrl).origin}/control/query`;
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    return (await response.json()).result;
  };
  return {
    baseUrl,
    async measure() {
      const status: StatusView = await query({ type: 'status' });
      const running = await query({ type: 'requests', filter: { outcome: 'running' } });
      return {
        ...(await heldBy(child)),
        descriptors: count(`/proc/${child.pid}/fd`),
        spooledFiles: count(join(dataDir, 'tmp')) - 1,
        ledgerPending: status.ledger.pending,
        ledgerRunning: running.requests.length,
      };
    },
    end() {
      child.kill('SIGTERM');
      return ended;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function heldBy(child: ChildProcess): Promise<Held> {
  const messages = on(child, 'message', { signal: AbortSignal.timeout(answerLimitMs) });
  child.send('measure');
  for await (const [message] of messages) {
    // `serve` sends its parent a string when it is ready, which waits here for the first reader.
    if (typeof message === 'object') return message;
  }
  throw new Error('The program told nothing of what it holds.');
}

/** The number of entries in a folder; NaN if there is no such folder. */
function count(folder: string): number {
  try {
    return readdirSync(folder).length;
  } catch {
    return Number.NaN;
  }
}
