/** A data folder with rows as earlier versions stored them. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { configSchema } from '../../server/contract/config.ts';
import { openLocalStore } from '../../server/store/local-store.ts';
import { noon } from '../server/store/contract/ledger/used-ledger.ts';
import { silent, temporaryFolder } from '../server/store/sqlite/records.ts';
import { fullRow } from './hostile-rows.ts';

const log = { ...silent, error() {} };
const settings = () => configSchema.parse({ version: 1 }).settings;

/** As earlier versions stored what clients and upstreams had chosen. */
function makeHostile(dataDir: string): void {
  const file = new DatabaseSync(join(dataDir, 'ledger.sqlite'));
  file.exec(String.raw`
    UPDATE requests SET client_retries = 1.5 WHERE id = 'req_1';
    UPDATE requests SET client_retries = 9007199254740994 WHERE id = 'req_2';
    UPDATE requests SET usage = json_set(usage, '$.images', 2.5), model_asked = 'm' || char(0) || 'x' WHERE id = 'req_3';
    UPDATE requests SET shadow_of = replace(shadow_of, 'gpt-x', 'm\u0000x') WHERE id = 'req_4';
    UPDATE requests SET attempts = replace(replace(attempts, '"b"', '"m\ud800x"'), 'it broke', 'it \u0000 broke');
    UPDATE usage_cells SET images = images + 2.5, name = 'gpt' || char(0) WHERE dimension = 'model' AND name = 'a';
    UPDATE sessions SET name = 'my' || char(0) || 'run';
  `);
  file.prepare("UPDATE usage_cells SET name = ? WHERE dimension = 'model' AND name = 'b'").run('gpt\ufffd');
  file.close();
}

/** Six requests; the caller removes the folder. */
export async function hostileFolder(): Promise<string> {
  const dataDir = temporaryFolder();
  const store = openLocalStore({ dataDir, log, settings });
  for (let index = 0; index < 6; index++)
    store.ledger.finished(
      fullRow(`req_${index}`, { startedAt: noon + index, ...(index % 2 === 1 && { shadowOf: null }) }),
    );
  await store.close();
  makeHostile(dataDir);
  return dataDir;
}
