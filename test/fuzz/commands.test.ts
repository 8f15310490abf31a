import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openConfigStore } from '../../server/config/config-store.ts';
import { createConfPersistence } from '../../server/config/persistence.ts';
import type { CommandInputMap } from '../../server/contract/commands.ts';
import { configSchema } from '../../server/contract/config.ts';
import type { QueryInputMap } from '../../server/contract/queries.ts';
import { hashOf, testKey } from '../support/gateway.ts';
import { fuzz, startWatched, timeoutMs, type WatchedGateway } from './fuzz.ts';

const limitMs = 20_000;

let gateway: WatchedGateway;
const folder = mkdtempSync(join(tmpdir(), 'sluice-fuzz-'));
beforeAll(async () => {
  const file = join(folder, 'config.json');
  const keys = [{ id: 'k1', group: 'default', hash: hashOf(testKey) }];
  writeFileSync(file, JSON.stringify({ version: 1, groups: [{ id: 'default' }], keys }));
  const config = await openConfigStore({ persistence: createConfPersistence(file) });
  gateway = await startWatched({ ports: { config } });
});
afterAll(async () => {
  await gateway?.stop();
  rmSync(folder, { recursive: true });
});

type Command = CommandInputMap[keyof CommandInputMap];
type Query = QueryInputMap[keyof QueryInputMap];

/** None of these commands makes outgoing connections, because fuzzing must not reach the address in a mutated one. */
const commands: Command[] = [
  { type: 'key.create', group: 'default', name: 'A key', models: ['gpt-*'] },
  { type: 'key.update', id: 'k1', changes: { name: 'Another', enabled: true } },
  { type: 'key.rotate', id: 'k1' },
  { type: 'key.reveal', id: 'k1' },
  { type: 'group.put', group: { id: 'team', models: ['*'], policy: { retries: 1 }, limits: { concurrent: 5 } } },
  { type: 'group.remove', id: 'team' },
  { type: 'alias.put', alias: { name: 'fast', targets: [{ provider: 'demo', model: 'demo-chat', weight: 2 }] } },
  { type: 'alias.remove', name: 'fast' },
  { type: 'settings.update', changes: { allowedHosts: ['box'], keepAliveCommentMs: 100 } },
  { type: 'config.import', config: { version: 1, groups: [{ id: 'default' }] } },
];
const queries: Query[] = [
  { type: 'status' },
  { type: 'keys' },
  { type: 'groups' },
  { type: 'group-preview', group: { models: ['*'] } },
  { type: 'models', group: 'default' },
  { type: 'route', group: 'default', model: 'demo-chat' },
  { type: 'requests', filter: { outcome: 'ok', sinceMs: 1 }, limit: 10, before: 5 },
  { type: 'request', id: 'req_1' },
  { type: 'usage', by: 'day', sinceMs: 1, zone: 'Europe/Berlin' },
  { type: 'usage-over-time', by: 'key', names: ['k1'], sinceMs: 0, untilMs: 3_600_000, stepMs: 60_000 },
  { type: 'first-byte-times', sinceMs: 0, untilMs: 3_600_000, stepMs: 60_000 },
  { type: 'config' },
];
const corpus = [...commands.map((command) => ['E', command]), ...queries.map((query) => ['Q', query])].map(
  ([where, body]) => Buffer.from(`${where}${JSON.stringify(body)}`),
);

async function ask(path: string, body: Buffer): Promise<{ status: number; text: string }> {
  const token = readFileSync(join(gateway.folder, 'admin.token'), 'utf8').trim();
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const signal = AbortSignal.timeout(limitMs);
  const init = { method: 'POST', headers, body: new Uint8Array(body), signal };
  const response = await fetch(`${gateway.origin}/control/${path}`, init);
  return { status: response.status, text: await response.text() };
}

test('every command and query is executed or refused with a message', { timeout: timeoutMs }, async () => {
  const report = await fuzz({
    name: 'commands',
    corpus,
    async run(input) {
      const known = gateway.faults.length;
      const { status, text } = await ask(input[0] === 0x51 ? 'query' : 'execute', input.subarray(1));
      if (status >= 500) throw new Error(`It answered ${status}: ${text.slice(0, 500)}`);
      JSON.parse(text);
      if (gateway.faults.length > known) throw new Error(`It logged ${gateway.faults.at(-1)}`);
    },
  });
  expect(report.failures).toEqual([]);
  expect(report.runs).toBeGreaterThan(200);
  const { status, text } = await ask('query', Buffer.from('{"type":"config"}'));
  expect(status).toBe(200);
  expect(configSchema.safeParse(JSON.parse(text).result.config).success).toBe(true);
  await gateway.expectNothingLeft();
});
