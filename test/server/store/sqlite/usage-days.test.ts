import { afterEach, beforeEach, expect, test } from 'vitest';
import { usageDimensions } from '../../../../server/contract/ledger.ts';
import { type Database, openSqliteDatabase } from '../../../../server/store/sqlite/database.ts';
import { createLedger, type Ledger } from '../../../../server/store/sqlite/ledger.ts';
import { clockAt, finishedRow, noon, rescuedRow, silent, startedRow } from './records.ts';

const hour = 3_600_000;
const day = 24 * hour;
const midnight = noon - 12 * hour;
let database: Database;
let ledger: Ledger;
let now = noon;
beforeEach(() => {
  now = noon;
  database = openSqliteDatabase(':memory:');
  ledger = open();
});
afterEach(() => {
  ledger.close();
  database.close();
});

const open = () => createLedger({ database, log: silent, now: () => now, sweepClock: clockAt(() => now) });
const daysKept = () => database.prepare("SELECT day FROM usage_days WHERE dimension = 'day' ORDER BY day").all().length;

/** Forty days with requests of many keys and models, including days without any. */
function fill(): void {
  for (let index = 0; index < 400; index += 1) {
    const startedAt = noon - (index % 40) * day + ((index * 7) % 24) * hour - 12 * hour;
    if (Math.floor(startedAt / day) % 5 === 0) continue;
    const more = { startedAt, keyId: `key-${index % 7}`, costUsd: index % 3 === 0 ? null : index / 16 };
    ledger.finished(index % 11 === 0 ? rescuedRow(`req_${index}`, more) : finishedRow(`req_${index}`, more));
  }
  ledger.flush();
}

const spans = [
  {},
  { sinceMs: noon - 30 * day },
  { sinceMs: midnight - 30 * day, untilMs: midnight - 2 * day },
  { sinceMs: noon - 3 * day + hour, untilMs: noon - 3 * day + 2 * hour },
  { untilMs: noon - 20 * day },
];

async function answers() {
  const found = [];
  for (const span of spans) {
    for (const by of usageDimensions) found.push(await ledger.summarizeUsage({ by, zone: 'Asia/Kolkata', ...span }));
  }
  return found;
}

test('a summary is the same from the sums of days as from those of quarters of an hour', async () => {
  fill();
  const before = await answers();
  expect(daysKept()).toBe(0);
  await ledger.sweep();
  expect(daysKept()).toBe(31);
  expect(await answers()).toEqual(before);
});

test('what comes late for a day that is over is in its sum too', async () => {
  fill();
  ledger.started(startedRow('req_late', { startedAt: midnight - hour, keyId: 'late' }));
  ledger.started(startedRow('req_lost', { startedAt: midnight - 2 * hour, keyId: 'lost' }));
  ledger.flush();
  await ledger.sweep();
  ledger.finished(finishedRow('req_late', { startedAt: midnight - hour, keyId: 'late', costUsd: 0.5 }));
  ledger.close();
  ledger = open();
  const question = { by: 'key', sinceMs: midnight - day, untilMs: midnight } as const;
  const byName = new Map((await ledger.summarizeUsage(question)).map((row) => [row.name, row]));
  expect(byName.get('late')).toMatchObject({ requests: 1, failed: 0, costUsd: 0.5 });
  expect(byName.get('lost')).toMatchObject({ requests: 1, failed: 1 });
});

test('a day is added up when it is over, and after a restart no day twice', async () => {
  ledger.finished(finishedRow('req_1', { startedAt: now, costUsd: 1 }));
  await ledger.sweep();
  expect(daysKept()).toBe(0);
  now += day;
  await ledger.sweep();
  ledger.close();
  ledger = open();
  await ledger.sweep();
  expect(daysKept()).toBe(1);
  expect(await ledger.summarizeUsage({ by: 'group', untilMs: midnight + day })).toMatchObject([
    { requests: 1, costUsd: 1 },
  ]);
});

test('days go with the requests that they were added up from', async () => {
  fill();
  await ledger.sweep();
  now += 80 * day;
  await ledger.sweep();
  expect(daysKept()).toBe(9);
  now += 80 * day;
  await ledger.sweep();
  expect(daysKept()).toBe(0);
  expect(await ledger.summarizeUsage({ by: 'key' })).toEqual([]);
});
