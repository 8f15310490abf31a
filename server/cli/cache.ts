/** `sluice cache`: the content of the groups' response caches, and what they have saved. */

import type { Command } from 'commander';
import type { CacheView } from '../contract/answer-cache.ts';
import type { Control } from './control.ts';
import type { Examples } from './help.ts';
import { money, showCurrency } from './money.ts';
import { CliError } from './programs/exit-codes.ts';
import { number, table } from './shown.ts';
import type { Verbs } from './verb.ts';

export const cacheExamples: Examples = {
  'cache stats': ['sluice cache stats', 'sluice cache stats --json'],
  'cache clear': ['sluice cache clear', 'sluice cache clear --group writing'],
};

export function addCacheVerbs(program: Command, { on }: Verbs): void {
  const cache = program.command('cache').description('the response caches of groups ("sluice group put --cache")');
  const stats = cache.command('stats').description('show what they hold, and what they have saved since the start');
  on(stats, async ({ control, output }) => {
    requireRunning(control);
    await showCurrency(control);
    const caches = await control.query({ type: 'caches' });
    output.show(caches, table(columns, caches.map(row), 'No group has a response cache.'));
  });
  const clear = cache
    .command('clear')
    .description('remove the stored answers')
    .option('--group <id>', 'only those of this group');
  on<{ group?: string }>(clear, async ({ control, output }, _, { group }) => {
    requireRunning(control);
    const cleared = await control.execute({ type: 'cache.clear', ...(group !== undefined && { group }) });
    const { entries } = cleared;
    output.show(cleared, `Removed ${entries} ${entries === 1 ? 'answer' : 'answers'}.`);
  });
}

const columns = ['group', ...['answers', 'MB', 'hits', 'shared', 'misses', 'saved'].map(number)];

function row({ groupId, entries, bytes, hits, shared, misses, savedUsd }: CacheView): string[] {
  const counts = [hits, shared, misses].map(String);
  return [groupId, String(entries), (bytes / 1_000_000).toFixed(1), ...counts, money(savedUsd, 4)];
}

function requireRunning({ origin }: Control): void {
  if (origin === null) throw new CliError('Sluice is not running, so its caches are empty.');
}
