import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { configSchema } from '../../../server/contract/config.ts';
import { openLocalStore } from '../../../server/store/local-store.ts';
import { hostileFolder } from '../../support/hostile-rows.ts';
import { everyAnswer } from './contract/ledger/hostile.ts';
import { silent } from './sqlite/records.ts';

test('rows that an earlier version stored with hostile values in SQLite are listed, counted and added up', async () => {
  const dataDir = await hostileFolder();
  const store = openLocalStore({
    dataDir,
    log: { ...silent, error() {} },
    settings: () => configSchema.parse({ version: 1 }).settings,
  });
  expect((await store.ledger.listRequests({})).requests).toHaveLength(6);
  const answers = await everyAnswer(store.ledger);
  expect(answers['by day']).toMatchObject([{ requests: 6, inputTokens: 600 }]);
  await store.close();
  rmSync(dataDir, { recursive: true });
});
