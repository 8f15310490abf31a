/** How each gateway is started: its command line, and Sluice's configuration and ledger. */

import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigInput } from '../../server/contract/config.ts';
import type { RequestRecord } from '../../server/contract/ledger.ts';
import { openSqliteDatabase } from '../../server/store/sqlite/database.ts';
import { createLedger } from '../../server/store/sqlite/ledger.ts';
import { finishedRow } from '../server/store/sqlite/records.ts';
import { freePort } from '../support/ports.ts';
import { modelsOf, type UpstreamWire, upstreamWires } from './conversations.ts';
import { type Address, clientKey, model } from './payloads.ts';
import { nginxCommand, portkeyArguments, portkeyHeaders, type ThirdPartyName } from './third-party.ts';

const batch = 5_000;
const spanMs = 30 * 86_400_000;

/** Writes this many requests of the last thirty days with the ledger's own code, alternating between the keys. */
export function fillLedger(file: string, rows: number, keys: number): void {
  const database = openSqliteDatabase(file);
  const ledger = createLedger({ database, log: console });
  const beginMs = Date.now() - spanMs;
  const record = (index: number): RequestRecord =>
    finishedRow(`req_${index.toString(16).padStart(32, '0')}`, {
      startedAt: beginMs + Math.floor((index / rows) * spanMs),
      keyId: `key-${index % keys}`,
      modelAsked: model,
      modelServed: model,
    });
  for (let index = 0; index < rows; index++) {
    ledger.finished(record(index));
    if (index % batch === batch - 1) ledger.flush();
  }
  ledger.close();
  database.close();
}

export type GatewayName = 'pipe' | 'express' | 'sluice' | 'sluice-empty' | 'sluice-full' | ThirdPartyName;

export interface GatewaySetting {
  upstreamPort: number;
  /** Folder for all files that are written. */
  scratch: string;
  /** The Sluice to measure. */
  program: string;
  /** Folder for the profiles that gateways write at their end; undefined for none. */
  profileFolder: string | undefined;
  /** Number of rows in the ledger of `sluice-full`. */
  ledgerRows: number;
}

export interface Launch {
  /** The program and its arguments. */
  command: readonly string[];
  env: NodeJS.ProcessEnv;
  /** The given port; undefined if the gateway chooses one and prints it. */
  port?: number;
  /** As in `Address`. */
  headers?: Address['headers'];
}

const here = import.meta.dirname;
const keyCount = 10_000;
const modelCount = 1_000;

/** @param folder the gateway's own folder for files that it writes */
export async function launchOf(name: GatewayName, setting: GatewaySetting, folder: string): Promise<Launch> {
  const env = { ...process.env, NODE_ENV: 'production' };
  if (name === 'nginx') {
    const port = await freePort();
    return { command: nginxCommand(folder, port, setting.upstreamPort), env, port };
  }
  const node = [process.execPath, ...profileFlags(name, setting)];
  if (name === 'portkey') {
    const port = await freePort();
    return { command: [...node, ...portkeyArguments(port)], env, port, headers: portkeyHeaders(setting.upstreamPort) };
  }
  const keys = { BENCH_CLIENT_KEY: clientKey, BENCH_PROVIDER_KEY: 'provider' };
  return { command: [...node, ...programOf(name, setting, folder)], env: { ...env, ...keys } };
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
      ...conversationProviders(upstreamPort),
      {
        id: 'main',
        baseUrl: `http://127.0.0.1:${upstreamPort}/v1`,
        credentials: [{ id: 'c1', secret: 'env:BENCH_PROVIDER_KEY' }],
        models: [...otherModels, model],
      },
    ],
    groups: [{ id: 'default' }],
    keys: [...keys, { id: 'bench', group: 'default', secret: 'env:BENCH_CLIENT_KEY' }],
    // Requests of the bench must not exceed the retention, because the sweep of the prepared rows would fall into one
    // round only.
    settings: { ledger: { retentionRows: 10_000_000 }, capture: { maxBytes: 8_000_000 } },
  };
}

/** Providers of each API, for the phase `translated`. */
function conversationProviders(upstreamPort: number): NonNullable<ConfigInput['providers']> {
  const origin = `http://127.0.0.1:${upstreamPort}`;
  const described = {
    'openai-chat': { baseUrl: `${origin}/v1`, serves: ['chat' as const] },
    'openai-responses': { baseUrl: `${origin}/v1`, serves: ['responses' as const] },
    'anthropic-messages': { baseUrl: origin, dialect: 'anthropic' as const },
    'gemini-generate': { baseUrl: `${origin}/v1beta`, dialect: 'gemini' as const },
    'bedrock-converse': { baseUrl: origin, dialect: 'bedrock' as const },
  } satisfies Record<UpstreamWire, object>;
  return upstreamWires.map((wire) => ({
    id: wire,
    ...described[wire],
    credentials: [{ id: 'c1', secret: 'env:BENCH_PROVIDER_KEY' }],
    models: modelsOf(wire),
  }));
}

function hashOf(secret: string): string {
  return `sha256:${createHash('sha256').update(secret).digest('hex')}`;
}
