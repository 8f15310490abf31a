/** Moves a laptop's data into a team's database. */
import { join } from 'node:path';
import pg from 'pg';
import { beforeEach, describe, expect, test } from 'vitest';
import { openSqliteDatabase } from '../../../server/store/sqlite/database.ts';
import { createJobStore } from '../../../server/store/sqlite/job-store.ts';
import { createLedger } from '../../../server/store/sqlite/ledger.ts';
import { eventually } from '../../support/eventually.ts';
import { hasPostgres, startPostgresInSuite } from '../../support/postgres.ts';
import { startProgram } from '../../support/program.ts';
import { capturedExchange, finishedRow, sessionMark, silent } from '../store/sqlite/records.ts';
import { addProvider, endProgramsAfterEach, runJson, runVerb, temporaryFolder } from './run-cli.ts';

endProgramsAfterEach();
const day = 86_400_000;

describe.runIf(hasPostgres())('sluice migrate', () => {
  const server = startPostgresInSuite();
  let url: string;
  let folder: string;
  beforeEach(async () => {
    url = await server.createDatabase();
    folder = temporaryFolder();
    const env = { UPSTREAM_KEY: 'sk-upstream-secret' };
    await addProvider(folder, { url: 'http://127.0.0.1:1/v1', models: 'gpt-x', env });
    await runVerb(['key', 'create', '--name', 'my editor', '--data-dir', folder]);
    await fill();
  });

  const requests = 2_500;

  /** Fills in requests of forty days until noon of yesterday, so of 41 dates, with sessions, captures and errors. */
  async function fill(): Promise<void> {
    const database = openSqliteDatabase(join(folder, 'ledger.sqlite'));
    const ledger = createLedger({ database, log: silent });
    const endMs = Math.floor(Date.now() / day) * day - day / 2;
    for (let index = 0; index < requests; index++) {
      ledger.finished(
        finishedRow(`req_${index}`, {
          startedAt: endMs - (40 * day * (requests - index)) / requests,
          keyId: `k${index % 5}`,
          // Fractions that add up exactly in any order.
          costUsd: index % 10 === 0 ? null : index / 1_024,
          session: index % 100 === 0 ? sessionMark('ses_1') : null,
        }),
      );
      if (index % 500 === 0) ledger.flush();
    }
    ledger.capture('req_1', capturedExchange('a question'));
    ledger.flush();
    await ledger.sessionStates.setStopped('ses_1', Date.now());
    await ledger.sweep();
    ledger.close();
    database.close();
  }

  const env = { SLUICE_PASSPHRASE: 'correct horse' };
  const migrate = (more: Record<string, string> = env) =>
    runVerb(['migrate', '--from', 'sqlite', '--to', url, '--data-dir', folder, '--json'], { env: more });
  const asked = async (sql: string) => {
    const client = new pg.Client(url);
    await client.connect();
    const { rows } = await client.query(sql);
    await client.end();
    return rows;
  };

  test('copies rows whose values PostgreSQL cannot hold, which once ended it with exit code 1', async () => {
    const database = openSqliteDatabase(join(folder, 'ledger.sqlite'));
    database.exec(`
      UPDATE requests SET client_retries = 1.5 WHERE id = 'req_7';
      UPDATE requests SET client_retries = 9e999 WHERE id = 'req_8';
      UPDATE requests SET model_asked = 'm' || char(0) || 'x' WHERE id = 'req_9';
      UPDATE requests SET attempts = replace(attempts, '"model":"', '"model":"\\u0000\\ud800') WHERE id = 'req_10';
    `);
    database.close();
    const { code, stdout, stderr } = await migrate();
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout).compared).toContainEqual({
      what: 'requests',
      before: requests,
      after: requests,
      isSame: true,
    });
    expect(await asked("SELECT client_retries FROM requests WHERE id IN ('req_7', 'req_8') ORDER BY id")).toEqual([
      { client_retries: expect.any(Number) },
      { client_retries: expect.any(Number) },
    ]);
  });

  test('copies everything, and what is copied again is there once', async () => {
    const database = openSqliteDatabase(join(folder, 'ledger.sqlite'));
    const jobs = createJobStore({ database, log: silent });
    const owner = { groupId: 'default', providerId: 'main', credentialId: null, model: null, keyId: 'k1' };
    jobs.remember({ kind: 'object', id: 'file-1', ...owner, createdAt: Date.now(), inputTokens: 2_000 });
    jobs.close();
    database.close();
    const before = await runJson(['usage', '--by', 'key', '--since', '90d', '--data-dir', folder]);
    for (let round = 0; round < 2; round++) {
      const { code, stdout, stderr } = await migrate();
      expect(code, stderr).toBe(0);
      const report = JSON.parse(stdout);
      expect(report).toMatchObject({ ok: true, secrets: 2 });
      expect(report.compared).toContainEqual({ what: 'requests', before: requests, after: requests, isSame: true });
      expect(await asked('SELECT count(*)::int AS count, count(DISTINCT day)::int AS days FROM requests')).toEqual([
        { count: requests, days: 41 },
      ]);
    }
    const shared = { ...env, SLUICE_STORE: url };
    const there = temporaryFolder();
    expect(await runJson(['usage', '--by', 'key', '--since', '90d', '--data-dir', there], { env: shared })).toEqual(
      before,
    );
    expect(await runJson(['key', 'list', '--data-dir', there], { env: shared })).toMatchObject([{ name: 'my editor' }]);
    const { stdout } = await runVerb(['key', 'reveal', 'my-editor', '--data-dir', there], { env: shared });
    expect(stdout).toContain('sk-sluice-');
    const [session] = await asked('SELECT stopped_at IS NOT NULL AS stopped, last_seq FROM sessions');
    const [last] = await asked(`SELECT max(seq) AS seq FROM requests WHERE session = 'ses_1'`);
    expect(session).toEqual({ stopped: true, last_seq: last.seq });
    expect(await asked('SELECT id, input_tokens FROM jobs')).toEqual([{ id: 'file-1', input_tokens: 2_000 }]);
    expect(await asked('SELECT id FROM captures')).toEqual([{ id: 'req_1' }]);
    // The folder is unchanged: its secrets still open with its own key file.
    expect((await runVerb(['key', 'reveal', 'my-editor', '--data-dir', folder])).stdout).toBe(stdout);
  });

  test.each([
    ['the configuration', 'SELECT 1 FROM config_revisions'],
    ['some requests', 'SELECT 1 FROM requests LIMIT 1'],
    ['most requests', 'SELECT 1 FROM requests OFFSET 1500 LIMIT 1'],
    ['the captures', 'SELECT 1 FROM captures LIMIT 1'],
  ])('that is killed after it has copied %s goes on from there', async (_what, isCopied) => {
    const place = ['--from', 'sqlite', '--to', url, '--data-dir', folder, '--json'];
    const killed = startProgram(['migrate', ...place], { env });
    const client = new pg.Client(url);
    await client.connect();
    await eventually(async () => {
      // The query fails until the tables have been created.
      const found = await client.query(isCopied).catch(() => null);
      return killed.child.exitCode !== null || (found?.rowCount ?? 0) > 0;
    });
    killed.child.kill('SIGKILL');
    await killed.ended;
    await client.end();
    const { code, stdout, stderr } = await migrate();
    expect(code, stderr).toBe(0);
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({ ok: true, secrets: 2 });
    expect(report.compared.every(({ isSame }: { isSame: boolean }) => isSame)).toBe(true);
    expect(await asked('SELECT count(*)::int AS count, count(DISTINCT id)::int AS ids FROM requests')).toEqual([
      { count: requests, ids: requests },
    ]);
    expect(await asked('SELECT id FROM captures')).toEqual([{ id: 'req_1' }]);
  });

  test('leaves out secrets that it cannot encrypt, and says so', async () => {
    const { code, stdout, stderr } = await migrate({});
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, secrets: 0 });
    expect(stderr).toContain('2 secrets were left out: set SLUICE_PASSPHRASE');
    expect(await asked('SELECT name FROM secrets')).toEqual([]);
  });

  test('copies nothing into a database that is in use', async () => {
    await runVerb(['key', 'create', '--name', 'other', '--data-dir', temporaryFolder()], {
      env: { ...env, SLUICE_STORE: url },
    });
    const { code, stderr } = await migrate();
    expect(code).toBe(1);
    expect(stderr).toContain('Name a new database');
    expect(await asked('SELECT id FROM requests')).toEqual([]);
  });
});
