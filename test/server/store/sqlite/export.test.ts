import { expect, test } from 'vitest';
import type { LossNote } from '../../../../server/contract/loss-codes.ts';
import { openSqliteDatabase } from '../../../../server/store/sqlite/database.ts';
import { csvField, exportRequests } from '../../../../server/store/sqlite/export.ts';
import { createLedger } from '../../../../server/store/sqlite/ledger.ts';
import { finishedRow, silent } from './records.ts';

test('CSV names what a translation lost, how often, and the note of a pinned request', async () => {
  const dropped: LossNote[] = [
    { code: 'no-equal', field: 'top_k', times: 1 },
    { code: 'provider-tool', field: 'tools[]', times: 3 },
  ];
  const database = openSqliteDatabase(':memory:');
  const ledger = createLedger({ database, log: silent });
  ledger.finished(finishedRow('req_1', { dropped }));
  let whole = '';
  const pins = [{ id: 'req_1', keyId: 'k1', groupId: 'default', pinnedAt: 0, note: '=1+1' }];
  const queries = { listRequests: ledger.listRequests.bind(ledger), listPins: async () => pins };
  for await (const piece of exportRequests(queries, 'csv')) whole += piece;
  const [names = '', row = ''] = whole.split('\r\n');
  expect(names).toMatch(/,client_retries,dropped,emulated,pinned_at,note$/);
  expect(row).toMatch(
    /,0,"top_k \(no-equal\), tools\[\] \(provider-tool, 3 times\)",,1970-01-01T00:00:00\.000Z,'=1\+1$/,
  );
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
  ['\t=1', `"'\t'=1"`],
  ['\r=1', `"'\r'=1"`],
  ['＝1+1', "'＝1+1"],
  ['＋1', "'＋1"],
  ['－1', "'－1"],
  ['＠SUM(A1)', "'＠SUM(A1)"],
  [' =1', "' =1"],
  ['\u00a0＝1', "'\u00a0＝1"],
  ['x;=1', `"x;'=1"`],
  ['x; ＝1', `"x;' ＝1"`],
  ['x;"=1"', `"x;'""=1"""`],
  ['x\t@A1', `"x\t'@A1"`],
  ['x\n=1', `"x\n'=1"`],
  ['Mozilla/5.0 (X11; Linux)', '"Mozilla/5.0 (X11; Linux)"'],
  ['gpt-4.1+more=less', 'gpt-4.1+more=less'],
  [-1.5, '-1.5'],
  [true, 'true'],
  [null, ''],
  [undefined, ''],
])('the CSV field of %j is %j', (value, field) => {
  expect(csvField(value)).toBe(field);
});
