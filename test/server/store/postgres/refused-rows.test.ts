/** Rows that PostgreSQL refuses or once refused to read, and their move from a data folder. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { configSchema } from '../../../../server/contract/config.ts';
import { importFolder } from '../../../../server/store/postgres/import-folder.ts';
import type { Store } from '../../../../server/store/store.ts';
import { hostileFolder } from '../../../support/hostile-rows.ts';
import { hasPostgres, startPostgresInSuite } from '../../../support/postgres.ts';
import { openReplicaStore, openTables } from '../../../support/postgres-store.ts';
import { everyAnswer } from '../contract/ledger/hostile.ts';
import { ended, hour, minute, noon } from '../contract/store-subject.ts';
import { rescuedRow, silent, temporaryFolder } from '../sqlite/records.ts';

const log = { ...silent, error() {} };
const settings = () => configSchema.parse({ version: 1 }).settings;
const allTime = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };

describe.runIf(hasPostgres())('PostgreSQL', () => {
  const server = startPostgresInSuite();
  let url: string;
  let dataDir: string;
  const open = (): Promise<Store> => openReplicaStore(url, { dataDir, log, settings });
  beforeEach(async () => {
    url = await server.createDatabase();
    dataDir = temporaryFolder();
  });
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  async function refuseRows(condition: string): Promise<void> {
    const tables = await openTables(url);
    await tables.script(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF ${condition} THEN RAISE EXCEPTION 'refused'; END IF; RETURN NEW; END $$;
      CREATE TRIGGER refuse BEFORE INSERT ON requests FOR EACH ROW EXECUTE FUNCTION refuse()`);
    await tables.close();
  }

  test('that refuses one row of a batch gets all others, and the amounts of that one', async () => {
    await refuseRows("NEW.model_asked = 'poison'");
    const store = await open();
    for (let index = 0; index < 300; index++) store.ledger.finished(ended(`req_${index}`, { keyId: 'k2' }));
    store.ledger.finished(ended('req_bad', { modelAsked: 'poison', keyId: 'k2', costUsd: 3 }));
    await store.ledger.flush();
    const file = join(dataDir, 'waiting-requests', 'set-aside-requests.jsonl');
    expect(store.ledger.health()).toMatchObject({ ok: true, pending: 0, dropped: 0, setAside: { rows: 1, file } });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ row: { id: 'req_bad', modelAsked: 'poison' } });
    expect(await store.ledger.countRequests({})).toMatchObject({ requests: 301 });
    expect((await store.ledger.history.spent('key', 'k2', allTime)).usd).toBeCloseTo(3.3, 9);
    await store.close();
  });

  test.each([
    ['a trigger', () => refuseRows("NEW.id = 'req_bad'")],
    [
      'a constraint',
      async () => {
        const tables = await openTables(url);
        await tables.script("ALTER TABLE requests ADD CONSTRAINT known CHECK (id <> 'req_bad')");
        await tables.close();
      },
    ],
  ])('whose %s refuses a row altogether: its cost counts in its budgets, also after a restart', async (_by, refuse) => {
    const store = await open();
    store.ledger.finished(ended('req_0', { costUsd: 1 }));
    await store.ledger.flush();
    await refuse();
    store.ledger.finished(ended('req_bad', { costUsd: 3 }));
    for (let index = 1; index < 9; index++) store.ledger.finished(ended(`req_${index}`, { costUsd: 1 }));
    await store.ledger.flush();
    const usdAt = async ({ ledger }: Store) => (await ledger.history.spent('key', 'k1', allTime)).usd;
    expect(await usdAt(store)).toBe(12);
    await store.close();
    const next = await open();
    expect(await usdAt(next)).toBe(12);
    expect(await next.ledger.countRequests({})).toMatchObject({ requests: 9 });
    expect(
      await next.ledger.history.atSnapshot?.(async ({ spent, ended: endedOf }) => [
        (await spent([{ scope: 'group', id: 'default', range: { startMs: noon, endMs: noon + hour } }]))[0]?.usd,
        [
          ...(await endedOf([
            { id: 'req_bad', startedAt: noon },
            { id: 'req_1', startedAt: noon },
          ])),
        ].sort(),
      ]),
    ).toEqual([12, ['req_1', 'req_bad']]);
    await next.close();
  });

  test('that holds attempts with NUL and half surrogate pairs of an earlier version answers usage in short steps', async () => {
    const store = await open();
    store.ledger.finished(rescuedRow('req_1', { startedAt: noon }));
    await store.ledger.flush();
    const tables = await openTables(url);
    const attempts = String.raw`replace(replace(attempts::text, '"b"', '"m\ud800x\\u0000"'), '"p1"', '"\\\u0000\u0000p1"')`;
    await tables.ask(`UPDATE requests SET attempts = (${attempts})::json`);
    await tables.close();
    const question = { sinceMs: noon, untilMs: noon + hour, stepMs: minute };
    const names = async (by: 'model' | 'provider') =>
      (await store.ledger.usageOverTime({ by, ...question })).map(({ name }) => name).sort();
    expect(await names('model')).toEqual(['a', 'b', 'm\ufffdx\\u0000']);
    expect(await names('provider')).toEqual(['\\\ufffd\ufffdp1', 'p0', 'p2']);
    await everyAnswer(store.ledger);
    await store.close();
  });

  test('takes a whole data folder with hostile rows of an earlier version', async () => {
    const folder = await hostileFolder();
    const { compared } = await importFolder({
      ...{ dataDir: folder, address: url, env: {}, key: {}, secrets: 'file', log },
      progress() {},
    });
    expect(compared.filter(({ isSame }) => !isSame)).toEqual([]);
    expect(compared).toContainEqual({ what: 'requests', before: 6, after: 6, isSame: true });
    const store = await open();
    expect((await store.ledger.getRequest('req_1'))?.clientRetries).toBe(2);
    const answers = await everyAnswer(store.ledger);
    expect(answers['by model']).toContainEqual(expect.objectContaining({ name: 'gpt\ufffd', inputTokens: 1_800 }));
    expect(answers.sessions).toMatchObject({ sessions: [{ name: 'my\ufffdrun' }] });
    await store.close();
    rmSync(folder, { recursive: true });
  });
});
