import { InvalidArgumentError } from 'commander';
import { expect, test } from 'vitest';
import { parseCache } from '../../../server/cli/group.ts';
import { endProgramsAfterEach, runJson, runVerb, serve, temporaryFolder } from './run-cli.ts';

endProgramsAfterEach();

test('a cache is written as on, off, or by its settings', () => {
  expect([parseCache('on'), parseCache('off')]).toEqual([{}, 'off']);
  expect(parseCache('ttl=2h,size=8,coalesce')).toEqual({ ttlSeconds: 7_200, maxBytes: 8_000_000, coalesce: true });
  for (const wrong of ['', 'ttl', 'ttl=1y', 'size=big', 'other']) {
    expect(() => parseCache(wrong)).toThrow(InvalidArgumentError);
  }
});

test('a cache is turned on for a group, shown and emptied', async () => {
  const folder = temporaryFolder();
  const run = (line: string) => runVerb([...line.split(' '), '--data-dir', folder]);
  expect(await run('cache stats')).toMatchObject({ code: 1, stderr: expect.stringContaining('is not running') });
  await serve(folder);
  expect((await run('cache stats')).stdout).toBe('No group has a response cache.\n');
  await run('group put tests --cache ttl=1m');
  const [stats] = (await runJson(['cache', 'stats', '--data-dir', folder])) as object[];
  expect(stats).toMatchObject({ groupId: 'tests', entries: 0, hits: 0 });
  expect((await run('cache stats')).stdout).toContain(' $0.0000');
  await run('settings set currency {"code":"EUR","perDollar":0.5}');
  expect((await run('cache stats')).stdout).toContain(' 0.0000 EUR');
  expect(await run('cache clear --group tests')).toMatchObject({ code: 0, stdout: 'Removed 0 answers.\n' });
  expect(await run('cache clear --group none')).toMatchObject({ code: 1, stderr: expect.stringContaining('none') });
});
