/**
 * The cost of the ledger with no rows and with a million: `node test/bench/ledger.ts [rows [keys]]`. Request ids are
 * random, and 10,000 keys (or the second argument) alternate over 90 days, which is the worst case for the sums per
 * quarter-hour.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RequestRecord } from '../../server/contract/ledger.ts';
import { openSqliteDatabase } from '../../server/store/sqlite/database.ts';
import { createLedger } from '../../server/store/sqlite/ledger.ts';
import { finishedRow, startedRow } from '../server/store/sqlite/records.ts';

const rows = Number(process.argv[2] ?? 1_000_000);
const keys = Number(process.argv[3] ?? 10_000);
const batch = 100;
const quarterYearMs = 90 * 86_400_000;
const begin = Date.now() - quarterYearMs;
const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
const file = join(folder, 'sluice.db');
let database = openSqliteDatabase(file);
let retentionDays = 1_000;
const settings = () => ({ retentionDays, retentionRows: 1e9, captureRetentionDays: 1, captureBytes: 1e9 });
let ledger = createLedger({ database, log: console, settings });

function record(index: number): RequestRecord {
  return finishedRow(`req_${randomBytes(16).toString('hex')}`, {
    startedAt: begin + Math.floor((index / rows) * quarterYearMs),
    keyId: `key-${(index * 7919) % keys}`,
    modelServed: `model-${index % 20}`,
    provider: `provider-${index % 4}`,
  });
}

/**
 * Writes `count` rows in batches, and prints the time per row of the median batch, its CPU time, and the longest batch.
 */
function write(label: string, from: number, count: number): void {
  const batchMs: number[] = [];
  const cpu = { user: 0, system: 0 };
  for (let done = 0; done < count; done += batch) {
    for (let index = done; index < done + batch; index += 1) ledger.finished(record(from + index));
    const beganAt = performance.now();
    const cpuBefore = process.cpuUsage();
    ledger.flush();
    const { user, system } = process.cpuUsage(cpuBefore);
    cpu.user += user;
    cpu.system += system;
    batchMs.push(performance.now() - beganAt);
  }
  batchMs.sort((a, b) => a - b);
  const medianUs = ((batchMs[batchMs.length >> 1] ?? 0) * 1_000) / batch;
  const cpuUs = (cpu.user + cpu.system) / count;
  console.log(
    `${label}: ${medianUs.toFixed(2)} µs a row, CPU ${cpuUs.toFixed(2)} µs, longest batch ${batchMs.at(-1)?.toFixed(1)} ms`,
  );
}

/** Prints the time until the answer, and the longest time for which the event loop was blocked. */
async function ask(label: string, work: () => unknown): Promise<void> {
  let longestMs = 0;
  let lastAt = performance.now();
  let isOver = false;
  const tick = () => {
    longestMs = Math.max(longestMs, performance.now() - lastAt);
    lastAt = performance.now();
    if (!isOver) setImmediate(tick);
  };
  tick();
  const beganAt = performance.now();
  const cpuBefore = process.cpuUsage();
  await work();
  const tookMs = performance.now() - beganAt;
  const { user, system } = process.cpuUsage(cpuBefore);
  tick();
  isOver = true;
  const cpuMs = (user + system) / 1_000;
  console.log(
    `${label}: ${tookMs.toFixed(1)} ms, CPU ${cpuMs.toFixed(1)} ms, blocks at most ${longestMs.toFixed(1)} ms`,
  );
}

const pushes = 10_000;
const sample = Array.from({ length: pushes }, (_, index) => record(index));
const beganAt = performance.now();
for (const one of sample) ledger.started(one);
console.log(`push: ${(((performance.now() - beganAt) * 1_000) / pushes).toFixed(3)} µs`);
ledger.flush();

write('warm-up', 0, 10_000);
write('first rows', 10_000, 20_000);
for (let done = 30_000; done < rows; done += 100_000) write(`at ${done}`, done, Math.min(100_000, rows - done));
write(`at ${rows}`, rows, 20_000);
console.log(`file: ${(statSync(file).size / 1e6).toFixed(0)} MB`);

ledger.started(startedRow('req_running'));
ledger.close();
database.close();
await ask('open', () => {
  database = openSqliteDatabase(file);
  ledger = createLedger({ database, log: { warn() {} }, settings });
});
await ask('add up the days that are over', () => ledger.sweep());
for (const by of ['day', 'key', 'group', 'model', 'provider'] as const) {
  await ask(`usage by ${by}`, () => ledger.summarizeUsage({ by, zone: 'Europe/Berlin' }));
}
const time = { sinceMs: begin, untilMs: Date.now(), stepMs: 86_400_000 };
await ask('usage over time', () => ledger.usageOverTime({ by: 'day', ...time }));
await ask('usage of four providers over time', () => ledger.usageOverTime({ by: 'provider', ...time }));
await ask('times to the first byte', () => ledger.firstByteTimes(time));
await ask('times to the first byte by provider', () => ledger.firstByteTimes({ by: 'provider', ...time }));
await ask('newest 100', () => ledger.listRequests({}));
await ask('newest 100 of a key', () => ledger.listRequests({ keyId: 'key-7' }));
await ask('one day of a month ago', () =>
  ledger.listRequests({ sinceMs: begin + 60 * 86_400_000, untilMs: begin + 61 * 86_400_000 }),
);
await ask('a request that is not there', () => ledger.getRequest('req_none'));
await ask('last uses', () => ledger.lastUsed());
retentionDays = 60;
await ask('retention of a third', () => ledger.sweep());
ledger.close();
database.close();
rmSync(folder, { recursive: true });
