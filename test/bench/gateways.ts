/** The gateways that are compared: how each is started, and the configuration and ledger that Sluice is given. */
import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ConfigInput } from '../../server/contract/config.ts';
import { fillLedger } from './fill-ledger.ts';
import { buildRequest, clientKey, expectedBody, model } from './payloads.ts';
import { endProcess, rssMb, startNode } from './proc.ts';

export type GatewayName = 'pipe' | 'express' | 'sluice' | 'sluice-empty' | 'sluice-full';

export interface RunningGateway {
  name: GatewayName;
  pid: number;
  port: number;
  /** Where a Sluice has its data. */
  dataDir: string;
  /** From spawning to the first good chat answer. */
  firstAnswerMs: number;
  /** Soon after the first answer. */
  idleRssMb: number;
  stop(): Promise<void>;
}

export interface GatewaySetting {
  upstreamPort: number;
  /** Everything is written below it. */
  scratch: string;
  /** The Sluice to be measured. */
  program: string;
  /** Where profiles go, if gateways are to write one as they end. */
  profileFolder: string | undefined;
  /** Rows in the ledger of `sluice-full`. */
  ledgerRows: number;
}

const here = import.meta.dirname;
const keyCount = 10_000;
const modelCount = 1_000;
const settleMs = 500;
const startLimitMs = 20_000;

export async function startGateway(name: GatewayName, setting: GatewaySetting): Promise<RunningGateway> {
  const folder = mkdtempSync(join(setting.scratch, `${name}-`));
  const args = [...profileFlags(name, setting), ...programOf(name, setting, folder)];
  const output = openSync(join(folder, 'output.txt'), 'a');
  const startedMs = performance.now();
  const child = startNode(args, 'gateway', {
    env: { ...process.env, NODE_ENV: 'production', BENCH_CLIENT_KEY: clientKey, BENCH_PROVIDER_KEY: 'provider' },
    stdio: ['ignore', 'pipe', output],
  });
  const port = await readyPort(name, child, folder);
  await askOnce(name, port);
  const firstAnswerMs = performance.now() - startedMs;
  await new Promise((resolve) => setTimeout(resolve, settleMs));
  const pid = child.pid ?? 0;
  return {
    name,
    pid,
    port,
    dataDir: join(folder, 'data'),
    firstAnswerMs,
    idleRssMb: rssMb(pid),
    stop: () => endProcess(child),
  };
}

function programOf(name: GatewayName, setting: GatewaySetting, folder: string): string[] {
  if (name === 'pipe' || name === 'express') {
    return [join(here, `${name}-proxy.ts`), `http://127.0.0.1:${setting.upstreamPort}`];
  }
  const dataDir = join(folder, 'data');
  const config = join(folder, 'config.json');
  const isFull = name === 'sluice-full';
  mkdirSync(dataDir, { mode: 0o700 });
  writeFileSync(config, JSON.stringify(sluiceConfig(setting.upstreamPort, isFull)));
  if (isFull) fillLedger(join(dataDir, 'ledger.sqlite'), setting.ledgerRows, keyCount);
  return [setting.program, 'serve', '--config', config, '--data-dir', dataDir, '--port', '0', '--json'];
}

function profileFlags(name: GatewayName, { profileFolder }: GatewaySetting): string[] {
  if (!profileFolder) return [];
  return ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`, `--cpu-prof-name=${name}-${Date.now()}.cpuprofile`];
}

function sluiceConfig(upstreamPort: number, isFull: boolean): ConfigInput {
  const others = isFull ? Array.from({ length: keyCount - 1 }, (_, index) => index) : [];
  const otherModels = isFull ? Array.from({ length: modelCount - 1 }, (_, index) => `model-${index}`) : [];
  const keys = others.map((index) => ({ id: `key-${index}`, group: 'default', hash: hashOf(`other key ${index}`) }));
  return {
    version: 1,
    providers: [
      {
        id: 'main',
        baseUrl: `http://127.0.0.1:${upstreamPort}/v1`,
        credentials: [{ id: 'c1', secret: 'env:BENCH_PROVIDER_KEY' }],
        models: [...otherModels, model],
      },
    ],
    groups: [{ id: 'default' }],
    keys: [...keys, { id: 'bench', group: 'default', secret: 'env:BENCH_CLIENT_KEY' }],
    // What the bench writes must not push out what it filled in: the sweep would fall into one round and not the others.
    settings: { ledger: { retentionRows: 10_000_000 } },
  };
}

function hashOf(secret: string): string {
  return `sha256:${createHash('sha256').update(secret).digest('hex')}`;
}

/** Reads the line that says where it listens. */
function readyPort(name: GatewayName, child: ChildProcess, folder: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => {
      const said = readFileSync(join(folder, 'output.txt'), 'utf8').trim();
      reject(new Error(said ? `${name} ${why}: ${said}` : `${name} ${why}`));
    };
    const timer = setTimeout(() => fail(`was not ready within ${startLimitMs} ms`), startLimitMs);
    child.once('error', (error) => fail(`cannot be started (${error.message})`));
    child.once('exit', (code) => fail(`ended with ${code}`));
    if (!child.stdout) return;
    createInterface({ input: child.stdout }).on('line', (line) => {
      const port = /"event":"ready".*?"baseUrl":"http:\/\/[^"]*:(\d+)\/v1"/.exec(line)?.[1];
      if (!port) return;
      clearTimeout(timer);
      resolve(Number(port));
    });
  });
}

async function askOnce(name: GatewayName, port: number): Promise<void> {
  const request = buildRequest('short', port);
  const body = request.subarray(request.indexOf('\r\n\r\n') + 4);
  const answer = await new Promise<Buffer>((resolve, reject) => {
    const headers = { authorization: `Bearer ${clientKey}`, 'content-type': 'application/json' };
    const asked = http.request({ port, host: '127.0.0.1', path: '/v1/chat/completions', method: 'POST', headers });
    asked.on('response', (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part)).on('end', () => resolve(Buffer.concat(parts)));
    });
    asked.on('error', reject);
    asked.end(body);
  });
  if (!answer.equals(expectedBody('short')))
    throw new Error(`${name} answers wrongly: ${answer.toString().slice(0, 300)}`);
}
