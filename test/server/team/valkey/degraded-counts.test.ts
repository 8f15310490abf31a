/** The amounts that a replica counts as spent while it counts alone. */
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Account } from '../../../../server/limits/account.ts';
import { CountedSubject } from '../../../../server/team/valkey/counted-subject.ts';
import { DegradedCounts } from '../../../../server/team/valkey/replica-limiter.ts';
import { ReplyCounts, ReplyNumbers } from '../../../../server/team/valkey/reply-counts.ts';
import { budget, none } from '../../limits/fake-limiter.ts';

const replicas = 3;
const dollars = (usd: number) => ({ usd, tokens: 0, unpriced: 0 });

test('its own since the last reply counts as often as there are replicas, and what the ledger holds once', async () => {
  let [inLedger, wallMs] = [20, Date.now()];
  const limited = budget(100, 'total');
  const subject = new CountedSubject(limited);
  const account = new Account({
    ...limited,
    clocks: { wallMs: () => wallMs, steadyMs: () => 0 },
    history: { spent: async () => dollars(inLedger), requestsSince: async () => [], async forgetTotal() {} },
    sums: { find: () => null, keep() {} },
    failed() {},
    jobReservations: () => undefined,
  });
  const counts = new DegradedCounts(account, subject, replicas);
  const usd = async () => {
    counts.spent('total');
    await setImmediate();
    return counts.spent('total').spent.usd;
  };
  expect(await usd()).toBe(20);
  const thirtyDollars = new ReplyNumbers('0 0 0 0 0 0 0 30 0 0 1');
  const at = { serverMs: wallMs, steadyMs: 0 };
  subject.applyReply(new ReplyCounts(thirtyDollars, at, { call: subject.at(wallMs), likely: none }), account);
  expect(await usd()).toBe(30);
  account.count(wallMs, dollars(2));
  expect(await usd()).toBe(30 + 2 * replicas);
  inLedger = 50;
  wallMs += 5_000;
  expect(await usd()).toBe(50);
});
