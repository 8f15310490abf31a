import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openSqliteDatabase } from '../../../../server/store/sqlite/database.ts';
import { createLedger } from '../../../../server/store/sqlite/ledger.ts';
import { silent, temporaryFolder } from './records.ts';

const folder = temporaryFolder();
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a process killed in mid-write loses no finished request older than 100 ms', async () => {
  const file = join(folder, 'sluice.db');
  const child = spawn(process.execPath, [join(import.meta.dirname, 'crash-child.ts'), file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8');
  for await (const piece of child.stdout) {
    said += piece;
    // Kills the child while it is writing. What it prints until it has ended still counts.
    if (!child.killed && said.length > 20_000) child.kill('SIGKILL');
  }
  if (child.signalCode === null && child.exitCode === null) await once(child, 'exit');
  expect(child.signalCode).toBe('SIGKILL');

  const promised = said.slice(0, said.lastIndexOf('\n')).split('\n');
  const database = openSqliteDatabase(file);
  expect(database.notice).toBeNull();
  const ledger = createLedger({ database, log: silent });
  const finished = new Set(
    database
      .prepare("SELECT id FROM requests WHERE outcome = 'ok'")
      .all()
      .map((row) => row.id),
  );
  expect(promised.length).toBeGreaterThan(1_000);
  expect(promised.filter((number) => !finished.has(`req_${number}`))).toEqual([]);
  const left = database.prepare(
    "SELECT count(*) AS count FROM requests WHERE id LIKE 'open%' AND outcome = 'interrupted'",
  );
  expect(Number(left.get()?.count)).toBeGreaterThan(0);
  expect(database.prepare('SELECT count(*) AS count FROM requests WHERE outcome IS NULL').get()).toEqual({ count: 0 });
  const [summary] = await ledger.summarizeUsage({ by: 'group' });
  expect(summary?.requests).toBe(Number(database.prepare('SELECT count(*) AS count FROM requests').get()?.count));
  ledger.close();
  database.close();
});
