import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LedgerSpool } from '../../../../server/store/postgres/ledger-spool.ts';
import { capturedExchange, finishedRow, noon, temporaryFolder } from '../sqlite/records.ts';

let folder: string;
let warnings: string[];
beforeEach(() => {
  folder = join(temporaryFolder(), 'waiting-requests');
  warnings = [];
});
afterEach(() => rmSync(join(folder, '..'), { recursive: true, force: true }));

const log = { warn: (_fields: object, message: string) => void warnings.push(message) };
const open = (maxBytes = 1_000_000) => LedgerSpool.open({ folder, replica: 'replica-1', log, maxBytes });
const idOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
const batch = (number: number, captured: string | null = null) => ({
  id: idOf(number),
  rows: [finishedRow(`req_${number}`)],
  ...(captured !== null && {
    captures: [{ id: `req_${number}`, capturedAt: noon, exchange: capturedExchange(captured) }],
  }),
});
/** The ids of all batches, and what was captured in each. */
async function drain(spool: LedgerSpool): Promise<[string, string | null][]> {
  const found: [string, string | null][] = [];
  for (let next = await spool.oldest(); next; next = await spool.oldest()) {
    const body = next.captures?.[0]?.exchange.request.body;
    found.push([next.id, body ? Buffer.from(body).toString() : null]);
    await spool.remove(next);
  }
  return found;
}

test('it makes no folder before one is needed, and then a private one', async () => {
  const spool = await open();
  expect(() => statSync(folder)).toThrow('ENOENT');
  await spool.add(batch(1, 'secret'));
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  const modes = readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777);
  expect(modes).toEqual([0o600, 0o600]);
});

test('batches come out in the order in which they went in, over restarts as well', async () => {
  const before = await open();
  for (const number of [3, 1]) await before.add(batch(number));
  const spool = await open();
  await spool.add(batch(2, 'said'));
  expect(spool.rows).toBe(3);
  expect(await drain(spool)).toEqual([
    [idOf(3), null],
    [idOf(1), null],
    [idOf(2), 'said'],
  ]);
  expect(readdirSync(folder)).toEqual([]);
});

test('captures make room for rows, the oldest first; after that nothing more is accepted', async () => {
  const spool = await open(6_000);
  const text = 'x'.repeat(1_000);
  expect(await spool.add(batch(1, text))).toBe(true);
  expect(await spool.add(batch(2, text))).toBe(true);
  let taken = 2;
  while (await spool.add(batch(taken + 1))) taken += 1;
  expect(taken).toBeGreaterThan(2);
  const used = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  expect(used).toBeLessThanOrEqual(6_000);
  expect(warnings).toEqual([
    'captured texts are lost, since no more may wait on disk',
    'no more requests can wait on disk',
  ]);
  const left = await drain(spool);
  expect(left.map(([id]) => id)).toEqual(Array.from({ length: taken }, (_, index) => idOf(index + 1)));
  expect(left.every(([, captured]) => captured === null)).toBe(true);
  expect(await spool.add(batch(99))).toBe(true);
});

test('a file that cannot be read counts as lost, and does not block the others', async () => {
  const before = await open();
  for (const number of [1, 2]) await before.add(batch(number));
  const [first = ''] = readdirSync(folder).sort();
  writeFileSync(join(folder, first), 'damaged');
  const spool = await open();
  expect(await drain(spool)).toEqual([[idOf(2), null]]);
  expect(spool.lostRows).toBe(1);
  expect(warnings).toEqual(['requests that wait on disk cannot be read']);
});

test('what a killed run has half written is removed', async () => {
  mkdirSync(folder);
  const name = `000000000001-${idOf(1)}.1.rows`;
  writeFileSync(join(folder, `${name}.tmp-0123456789abcdef`), 'half');
  expect((await open()).isEmpty).toBe(true);
  expect(readdirSync(folder)).toEqual([]);
});

test('if the folder cannot be created, nothing is accepted, and that is logged once', async () => {
  writeFileSync(folder, 'a file in its place');
  chmodSync(folder, 0o600);
  const spool = await open();
  expect(await spool.add(batch(1))).toBe(false);
  expect(await spool.add(batch(2))).toBe(false);
  expect(spool.isEmpty).toBe(true);
  expect(warnings.filter((warning) => warning === 'no more requests can wait on disk')).toHaveLength(1);
});
