import { expect, test } from 'vitest';
import { RecentBatches } from '../../../../server/store/sqlite/derived-rows.ts';

test('the batches of a time are told newest first, and the oldest are forgotten', () => {
  const recent = new RecentBatches();
  const rows = [
    [5, 100],
    [4, 90],
    [6, 120],
  ] as const;
  const batch = rows.reduce<ReturnType<typeof RecentBatches.extended> | null>(
    (current, [seq, startedAt]) => RecentBatches.extended(current, seq, startedAt),
    null,
  );
  expect(batch).toEqual({ firstSeq: 4, lastSeq: 6, sinceMs: 90, untilMs: 120 });
  if (batch) recent.add(batch);
  recent.add(RecentBatches.extended(null, 7, 95));
  recent.add(RecentBatches.extended(null, 8, 300));
  expect([...recent.at(95)].map(({ firstSeq }) => firstSeq)).toEqual([7, 4]);
  expect([...recent.at(121)]).toEqual([]);
  for (let seq = 0; seq < 10_000; seq++) recent.add(RecentBatches.extended(null, seq, 1_000 + seq));
  expect([...recent.at(95)]).toEqual([]);
  expect([...recent.at(10_999)]).toHaveLength(1);
  recent.clear();
  expect([...recent.at(10_999)]).toEqual([]);
});
