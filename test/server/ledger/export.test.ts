import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LossNote } from '../../../server/contract/loss-codes.ts';
import { type Database, openDatabase } from '../../../server/database/database.ts';
import { csvField, type ExportFormat, exportRequests } from '../../../server/ledger/export.ts';
import { createLedger, type Ledger } from '../../../server/ledger/ledger.ts';
import { finishedRow, noon, silent, startedRow } from './records.ts';

let database: Database;
let ledger: Ledger;
beforeEach(() => {
  database = openDatabase(':memory:');
  ledger = createLedger({ database, log: silent });
});
afterEach(() => {
  ledger.close();
  database.close();
});

async function exported(format: ExportFormat, filter = {}) {
  let whole = '';
  for await (const piece of exportRequests(ledger, format, filter)) whole += piece;
  return whole;
}

test('CSV has a line of names and a line for each request, ended as RFC 4180 has it', async () => {
  ledger.finished(finishedRow('req_1', { usage: { inputTokens: 3, images: 1 }, costUsd: null }));
  ledger.started(startedRow('req_2', { startedAt: noon + 1 }));
  const [names = '', second = '', first = '', end] = (await exported('csv')).split('\r\n');
  expect(names).toMatch(/^id,started_at,key,group,method,route,/);
  expect(second).toMatch(/^req_2,2026-11-20T12:00:00\.001Z,k1,default,POST,.*,running,/);
  expect(end).toBe('');
  const row = Object.fromEntries(names.split(',').map((name, index) => [name, first.split(',')[index]]));
  expect(row).toMatchObject({
    id: 'req_1',
    outcome: 'ok',
    attempts: '1',
    input_tokens: '3',
    images: '1',
    cost_usd: '',
  });
  expect(row).toMatchObject({ output_tokens: '', stream: 'false', first_byte_ms: '12.25' });
});

test('CSV names what a translation lost, and how often', async () => {
  const dropped: LossNote[] = [
    { code: 'no-equal', field: 'top_k', times: 1 },
    { code: 'provider-tool', field: 'tools[]', times: 3 },
  ];
  ledger.finished(finishedRow('req_1', { dropped }));
  const [names = '', row = ''] = (await exported('csv')).split('\r\n');
  expect(names).toMatch(/,client_retries,dropped,emulated$/);
  expect(row).toMatch(/,0,"top_k \(no-equal\), tools\[\] \(provider-tool, 3 times\)",$/);
});

test.each([
  ['plain', 'plain'],
  ['a,b', '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ['two\nlines', '"two\nlines"'],
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['=HYPERLINK("x","y")', `"'=HYPERLINK(""x"",""y"")"`],
  ['\t=1', "'\t=1"],
  ['\r=1', `"'\r=1"`],
  [-1.5, '-1.5'],
  [true, 'true'],
  [null, ''],
  [undefined, ''],
])('the CSV field of %j is %j', (value, field) => {
  expect(csvField(value)).toBe(field);
});

test('JSON lines hold each request with its attempts', async () => {
  ledger.finished(finishedRow('req_1'));
  ledger.finished(finishedRow('req_2', { provider: 'other' }));
  const lines = (await exported('jsonl', { provider: 'main' })).trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual([finishedRow('req_1')]);
});

test('an export of many pages leaves nothing out', async () => {
  for (let index = 0; index < 1_001; index += 1) ledger.finished(finishedRow(`req_${index}`));
  const ids = (await exported('jsonl'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).id);
  expect(new Set(ids).size).toBe(1_001);
  expect(ids[0]).toBe('req_1000');
});
