import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RequestRecord } from '../../../server/contract/ledger.ts';
import { type Database, openDatabase } from '../../../server/database/database.ts';
import { createLedger, type LocalLedger } from '../../../server/ledger/ledger.ts';
import { finishedRow, noon, silent, startedRow } from './records.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const always = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };
const day = { startMs: noon - 12 * hourMs, endMs: noon + 12 * hourMs };

let database: Database;
let ledger: LocalLedger;
let count: number;

beforeEach(() => {
  count = 0;
  database = openDatabase(':memory:');
  const settings = { retentionDays: 2, retentionRows: 1e6, captureRetentionDays: 1 };
  ledger = createLedger({ database, log: silent, now: () => noon, settings: () => settings });
});
afterEach(() => {
  ledger.close();
  database.close();
});

/** Fifteen tokens for a tenth of a cent each. */
const add = (more: Partial<RequestRecord>) => ledger.finished(finishedRow(`req_${count++}`, more));

describe('what was spent', () => {
  test('is that of the key or group in the range, with what waits to be written', () => {
    for (const startedAt of [noon - dayMs, noon - hourMs, noon, noon + 13 * hourMs]) add({ startedAt });
    add({ keyId: 'k2' });
    expect(ledger.history.spent('key', 'k1', day)).toEqual({ tokens: 30, usd: expect.closeTo(0.002, 9), unpriced: 0 });
    expect(ledger.history.spent('group', 'default', day).tokens).toBe(45);
    expect(ledger.history.spent('key', 'nobody', day)).toEqual({ tokens: 0, usd: 0, unpriced: 0 });
    expect(ledger.history.spent('key', 'k1', { startMs: day.startMs - 40 * dayMs, endMs: day.endMs }).tokens).toBe(45);
  });

  test('holds what cannot be written now, and holds it once when it is', () => {
    add({});
    ledger.flush();
    database.exec('PRAGMA query_only = ON');
    add({ costUsd: null });
    add({ startedAt: noon - dayMs });
    add({ keyId: 'k2' });
    const spent = { tokens: 30, usd: 0.001, unpriced: 1 };
    expect(ledger.history.spent('key', 'k1', day)).toEqual(spent);
    expect(ledger.history.spent('key', 'k1', always).tokens).toBe(45);
    database.exec('PRAGMA query_only = OFF');
    expect(ledger.history.spent('key', 'k1', day)).toEqual(spent);
  });

  test('tells of how many requests nobody knows the cost', async () => {
    for (const startedAt of [noon - dayMs, noon - hourMs]) add({ startedAt, costUsd: null });
    add({});
    const both = { startMs: day.startMs - dayMs, endMs: day.endMs };
    expect(ledger.history.spent('key', 'k1', both)).toMatchObject({ tokens: 45, unpriced: 2 });
    await ledger.sweep();
    expect(ledger.history.spent('key', 'k1', both).unpriced).toBe(2);
    expect(ledger.history.spent('key', 'k1', day).unpriced).toBe(1);
  });

  test('is the same once whole days are added up', async () => {
    for (let hour = 0; hour < 47; hour++) add({ startedAt: noon - hour * hourMs });
    const ranges = [0, 3, 13, 26, 40].flatMap((begin) =>
      [1, 9, 30, 60].map((length) => {
        const startMs = noon - 48 * hourMs + begin * hourMs;
        return { startMs, endMs: startMs + length * hourMs };
      }),
    );
    const spent = () => ranges.map((range) => ledger.history.spent('key', 'k1', range).tokens);
    const before = spent();
    await ledger.sweep();
    expect(spent()).toEqual(before);
    expect(Math.max(...before)).toBe(47 * 15);
  });

  test('in total outlives the requests and their sums, and is forgotten with its key', async () => {
    for (const age of [10, 9, 1, 0]) add({ startedAt: noon - age * dayMs });
    expect(ledger.history.spent('key', 'k1', always).tokens).toBe(60);
    expect(await ledger.sweep()).toBe(2);
    expect(ledger.history.spent('key', 'k1', always).tokens).toBe(60);
    ledger.history.forgetTotal('key', 'k1');
    expect(ledger.history.spent('key', 'k1', always)).toEqual({ tokens: 0, usd: 0, unpriced: 0 });
    expect(ledger.history.spent('group', 'default', always).tokens).toBe(60);
  });
});

test('the requests of the last minute are those that run or reached a provider', () => {
  add({ startedAt: noon - 61_000 });
  add({ startedAt: noon - 30_000 });
  add({ startedAt: noon - 20_000, provider: null, attempts: [], usage: null });
  ledger.started(startedRow('req_running', { startedAt: noon - 1_000 }));
  expect(ledger.history.requestsSince('key', 'k1', noon - 60_000)).toEqual([
    { startedAt: noon - 30_000, tokens: 15 },
    { startedAt: noon - 1_000, tokens: 0 },
  ]);
});
