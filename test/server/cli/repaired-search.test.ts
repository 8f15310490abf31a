/** `sluice log --search` on a ledger that an earlier version wrote says that its search is being repaired. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { idOf, writeMisplaced } from '../store/sqlite/misplaced.ts';
import { endProgramsAfterEach, runVerb, serve, temporaryFolder } from './run-cli.ts';

endProgramsAfterEach();

/** Their repair takes many times as long as a command's first query. */
const requests = 4_000;

test('a search says how much of it is repaired, and nothing once all of it is', async () => {
  const folder = temporaryFolder();
  await writeMisplaced(join(folder, 'ledger.sqlite'), requests);
  const search = () => runVerb(['log', '--search', 'boiler19 is out', '--json', '--data-dir', folder]);
  const first = await search();
  expect(first.code).toBe(0);
  expect(first.stderr).toMatch(/being repaired, \d+ %/);
  await serve(folder);
  await expect.poll(async () => (await search()).stderr).toBe('');
  const found = (await search()).stdout.trim().split('\n');
  expect(found.map((line) => JSON.parse(line).id)).toEqual([idOf(19)]);
});
