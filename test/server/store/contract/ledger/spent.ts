import { describe, expect, test } from 'vitest';
import { shadowAccount } from '../../../../../server/contract/ledger.ts';
import { settledBy } from '../../../../../server/limits/local-limiter.ts';
import type { HistoryRange } from '../../../../../server/store/sqlite/usage-history.ts';
import { attemptRecord } from '../../../../support/attempt-record.ts';
import type { StoreSubject } from '../store-subject.ts';
import { began, day, ended, hour, minute, noon, useLedger } from './used-ledger.ts';

const always = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };
const wholeDay = { startMs: noon - day / 2, endMs: noon + day / 2 };
const nothing = { tokens: 0, usd: 0, unpriced: 0 };

export function spentContract(subject: StoreSubject): void {
  describe('what was spent', () => {
    const used = useLedger(subject);
    /** Each has fifteen tokens and costs a quarter of a dollar. */
    const add = (id: string, more: Parameters<typeof ended>[1] = {}) =>
      used.add(ended(`req_${id}`, { costUsd: 0.25, ...more }));
    const spent = async (scope: 'key' | 'group', id: string, range: HistoryRange) => {
      await used.ledger.flush();
      return used.ledger.history.spent(scope, id, range);
    };

    test('is that of the key or group in the range', async () => {
      for (const startedAt of [noon - day, noon - hour, noon, noon + 13 * hour]) add(String(startedAt), { startedAt });
      add('other', { keyId: 'k2' });
      expect(await spent('key', 'k1', wholeDay)).toEqual({ tokens: 30, usd: 0.5, unpriced: 0 });
      expect(await spent('group', 'default', wholeDay)).toMatchObject({ tokens: 45 });
      expect(await spent('key', 'nobody', wholeDay)).toEqual(nothing);
      expect(await spent('key', 'k1', { ...wholeDay, startMs: noon - 40 * day })).toMatchObject({ tokens: 45 });
      expect(await spent('key', 'k1', { startMs: noon - day, endMs: Number.POSITIVE_INFINITY })).toMatchObject({
        tokens: 60,
      });
    });

    test('includes the number of requests whose cost is unknown', async () => {
      for (const startedAt of [noon - day, noon - hour]) add(String(startedAt), { startedAt, costUsd: null });
      add('priced');
      const both = { ...wholeDay, startMs: wholeDay.startMs - day };
      for (const _ of ['before', 'after a sweep']) {
        expect(await spent('key', 'k1', both)).toEqual({ tokens: 45, usd: 0.25, unpriced: 2 });
        expect(await spent('key', 'k1', wholeDay)).toMatchObject({ unpriced: 1 });
        await used.ledger.sweep();
      }
    });

    test('is the same for all ranges asked at once, before and after a sweep', async () => {
      const times = Array.from({ length: 47 }, (_, index) => noon - index * hour);
      for (const [index, startedAt] of times.entries())
        add(String(index), { startedAt, keyId: `k${index % 2}`, groupId: index % 3 === 0 ? 'g' : 'other' });
      const owners = [
        { scope: 'key', id: 'k0', isOwn: (index: number) => index % 2 === 0 },
        { scope: 'key', id: 'k1', isOwn: (index: number) => index % 2 === 1 },
        { scope: 'group', id: 'g', isOwn: (index: number) => index % 3 === 0 },
      ] as const;
      const questions = [0, 3, 13, 26, 40].flatMap((begin) =>
        [1, 9, 30, 60].flatMap((length) => {
          const startMs = noon - 48 * hour + begin * hour;
          return owners.map((owner) => ({ ...owner, startMs, endMs: startMs + length * hour }));
        }),
      );
      const expected = questions.map(
        ({ isOwn, startMs, endMs }) =>
          15 * times.filter((at, index) => isOwn(index) && at >= startMs && at < endMs).length,
      );
      await used.ledger.flush();
      const { history } = used.ledger;
      const tokens = async () => {
        const spent = await Promise.all(
          questions.map(({ scope, id, startMs, endMs }) => history.spent(scope, id, { startMs, endMs })),
        );
        return spent.map((each) => each.tokens);
      };
      expect(await tokens()).toEqual(expected);
      await used.ledger.sweep();
      expect(await tokens()).toEqual(expected);
    });

    test('in total outlives the requests and their sums, and is forgotten with its key', async () => {
      used.settings.ledger.retentionDays = 2;
      for (const age of [6, 5, 1, 0]) add(String(age), { startedAt: Date.now() - age * day });
      expect(await spent('key', 'k1', always)).toMatchObject({ tokens: 60, usd: 1 });
      await used.ledger.sweep();
      expect(await used.ids({})).toEqual(['req_0', 'req_1']);
      await used.restart();
      expect(await spent('key', 'k1', always)).toMatchObject({ tokens: 60, usd: 1 });
      await used.ledger.history.forgetTotal('key', 'k1');
      expect(await spent('key', 'k1', always)).toEqual(nothing);
      expect(await spent('group', 'default', always)).toMatchObject({ tokens: 60 });
    });

    test('by shadows is of their group’s account alone', async () => {
      const shadowed = {
        id: 'req',
        provider: null,
        model: null,
        costUsd: 1,
        firstByteMs: 1,
        totalMs: 1,
        outputTokens: 1,
      };
      add('shadow', { shadowOf: shadowed });
      expect(await spent('key', 'k1', wholeDay)).toEqual(nothing);
      expect(await spent('group', 'default', wholeDay)).toEqual(nothing);
      expect(await spent('group', shadowAccount('default'), wholeDay)).toMatchObject({ usd: 0.25 });
    });

    test('recently is read from requests that run or reached a provider, without shadows', async () => {
      const refused = { provider: null, attempts: [], usage: null };
      add('old', { startedAt: noon - 61_000 });
      add('late', { startedAt: noon - 30_000 });
      add('other', { startedAt: noon - 25_000, keyId: 'k2' });
      add('refused', { startedAt: noon - 20_000, ...refused });
      used.ledger.started(began('req_running', { startedAt: noon - 1_000 }));
      await used.ledger.flush();
      const since = noon - minute;
      const late = [
        { startedAt: noon - 30_000, tokens: 15 },
        { startedAt: noon - 1_000, tokens: 0 },
      ];
      const { history } = used.ledger;
      const asked = [history.requestsSince('key', 'k1', since), history.requestsSince('group', 'default', since)];
      const [ofKey, ofGroup] = await Promise.all(asked);
      expect(ofKey).toEqual(late);
      expect(ofGroup).toHaveLength(3);
      expect(await history.requestsSince('key', 'k1', noon)).toEqual([]);
    });

    test('counts as a request per minute after a restart what counted while it ran', async () => {
      const silent = attemptRecord({ status: null, failure: 'transient', error: 'refused' });
      const rows = [
        ended('req_answered'),
        ended('req_unreachable', { outcome: 'error', attempts: [silent], costUsd: null }),
        ended('req_unanswered', { outcome: 'error', attempts: [{ ...silent, connectMs: 3 }], costUsd: null }),
        ended('req_rescued', { attempts: [silent, attemptRecord()] }),
        ended('req_hit', { provider: null, attempts: [], cached: { result: 'hit', savedUsd: 1, savedUsage: null } }),
        ended('req_shared', {
          provider: null,
          attempts: [],
          cached: { result: 'shared', savedUsd: 1, savedUsage: null },
        }),
        ended('req_miss', { cached: { result: 'miss', savedUsd: null, savedUsage: null } }),
        ended('req_refused', { outcome: 'error', status: 404, provider: null, attempts: [], costUsd: 0 }),
      ].map((row, index) => ({ ...row, startedAt: noon + index }));
      for (const row of rows) used.add(row);
      const live = rows.filter((row) => !settledBy(row).isVoid).map(({ startedAt }) => startedAt);
      expect(live).toEqual([0, 2, 3, 4, 5, 6].map((index) => noon + index));
      await used.restart();
      for (const [scope, id] of [
        ['key', 'k1'],
        ['group', 'default'],
      ] as const) {
        const found = await used.ledger.history.requestsSince(scope, id, noon);
        expect(found.map(({ startedAt }) => startedAt)).toEqual(live);
      }
    });
  });
}
