import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openConfigStore } from '../../server/config/config-store.ts';
import { loadDeclarativeConfig } from '../../server/config/declarative.ts';
import { createConfPersistence } from '../../server/config/persistence.ts';
import type { ConfigInput } from '../../server/contract/config.ts';
import { GatewayError } from '../../server/contract/errors.ts';
import { hashOf } from '../support/gateway.ts';
import { snapshotOf } from '../support/providers.ts';
import { fuzz, timeoutMs } from './fuzz.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-fuzz-'));
afterAll(() => rmSync(folder, { recursive: true }));

type LimitsInput = NonNullable<NonNullable<ConfigInput['keys']>[number]['limits']>;
const limits: LimitsInput = {
  requestsPerMinute: 60,
  concurrent: 10,
  budgets: [{ unit: 'usd', amount: 5, per: 'day' }],
};
const whole: ConfigInput = {
  version: 1,
  providers: [
    {
      id: 'main',
      name: 'Main',
      baseUrl: 'https://api.openai.com/v1',
      credentials: [{ id: 'c1', secret: 'env:KEY' }],
      headers: { 'openai-organization': 'org' },
      models: ['gpt-x', 'o*', '*'],
      timeouts: { connectMs: 500, totalMs: 60_000 },
      proxy: 'http://127.0.0.1:3128',
    },
    { id: 'other', dialect: 'azure', baseUrl: 'http://localhost:8080/v1', apiVersion: '2026-01-01' },
  ],
  aliases: [{ name: 'fast', targets: [{ provider: 'main', model: 'gpt-x', priority: 1, weight: 0.5 }] }],
  groups: [
    {
      id: 'default',
      models: ['gpt-*', '[a-z]*(x)?'],
      deny: ['*-old'],
      order: [{ provider: 'other', priority: 2 }],
      defaults: { images: 'gpt-x' },
      policy: { retries: 2, fallbacks: 1, timeouts: { idleMs: 30_000 } },
      limits,
    },
  ],
  keys: [
    {
      id: 'k1',
      group: 'default',
      hash: hashOf('x'),
      expiresAt: '2027-01-01T00:00:00+01:00',
      models: ['gpt-x'],
      limits,
    },
  ],
  settings: { port: 4810, allowedHosts: ['box'], prices: { 'gpt-x': { input: 1 } }, ledger: { retentionDays: 5 } },
};

const corpus = [whole, { version: 1 }, { ...whole, version: 2 }].map((config) =>
  Buffer.from(JSON.stringify(config, null, 2)),
);

test('a configuration file is accepted, or refused with a message', { timeout: timeoutMs }, async () => {
  let number = 0;
  let taken = 0;
  const report = await fuzz({
    name: 'configuration',
    corpus,
    async run(input) {
      const file = join(folder, `${++number}.json`);
      writeFileSync(file, input);
      const declared = await loadDeclarativeConfig(file).catch(expectWords);
      const stored = await openConfigStore({ persistence: createConfPersistence(file) }).catch(expectWords);
      for (const store of [declared, stored]) {
        if (!store) continue;
        taken++;
        snapshotOf(store.current.config);
      }
    },
  });
  expect(report.failures).toEqual([]);
  expect(report.runs).toBeGreaterThan(300);
  expect(taken).toBeGreaterThan(100);
});

/** An error about the file must be meant for people, and must not quote anything that could be a secret. */
function expectWords(error: unknown): null {
  if (!(error instanceof GatewayError)) throw error;
  return null;
}
