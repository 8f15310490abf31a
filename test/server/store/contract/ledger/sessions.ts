import { describe, expect, test } from 'vitest';
import { lostPurchaseCode } from '../../../../../server/contract/errors.ts';
import type { RequestRecord, RequestSession, Usage } from '../../../../../server/contract/ledger.ts';
import { attemptRecord } from '../../../../support/stand-ins.ts';
import { sessionMark } from '../../sqlite/records.ts';
import {
  began,
  day,
  ended,
  hour,
  minute,
  noon,
  type StoreSubject,
  type UsedLedger,
  useLedger,
} from '../store-subject.ts';

const idOf = (number: number) => `ses_${String(number).padStart(16, '0')}`;
const session = (number: number, step: RequestSession['step'] = 'prompt', thread = 'aaaaaaaa') =>
  sessionMark(idOf(number), { thread, step });

/** Records requests with consecutive ids. */
function adding(used: UsedLedger) {
  let count = 0;
  return (more: Partial<RequestRecord>): string => {
    const id = `req_${++count}`;
    used.add(ended(id, more));
    return id;
  };
}

export function sessionsContract(subject: StoreSubject): void {
  describe('sessions', () => {
    const used = useLedger(subject);
    const add = adding(used);
    const ids = async (filter: object) => (await used.ledger.listSessions(filter)).sessions.map(({ id }) => id);

    test('keep the name that one of their requests gives them', async () => {
      add({ session: session(1) });
      add({ session: { ...session(1), name: 'nightly' } });
      add({ session: session(1) });
      add({ session: session(2) });
      const { sessions } = await used.ledger.listSessions({});
      expect(sessions.map(({ id, name }) => [id, name])).toEqual([
        [idOf(2), null],
        [idOf(1), 'nightly'],
      ]);
    });

    test('count failures, refusals and unknown costs as usage does', async () => {
      const attempts = [attemptRecord({ usage: { inputTokens: 1 }, costUsd: null }), attemptRecord({ costUsd: 3 })];
      const failed = { outcome: 'error', usage: null, costUsd: null } as const;
      const rows: Partial<RequestRecord>[] = [
        { attempts, costUsd: 3 },
        { usage: null, costUsd: null },
        { ...failed, errorCode: lostPurchaseCode },
        { ...failed, provider: null, attempts: [], status: 404 },
        { ...failed, fault: 'error', provider: null, attempts: [] },
        { outcome: 'stream-broken', usage: null, costUsd: null },
        { outcome: 'client-gone', costUsd: null },
        { method: 'GET', usage: null, costUsd: null },
      ];
      const added = rows.map((row) => add({ session: session(1), ...row }));
      const [usage] = await used.ledger.summarizeUsage({ by: 'day' });
      const [session1] = (await used.ledger.listSessions({})).sessions;
      const sums = { failed: 2, refused: 1, unpricedRequests: 5 };
      expect(session1).toMatchObject(sums);
      expect(usage).toMatchObject(sums);
      // From single requests, as for a person, and for the list of models without a price.
      const within = { keyIds: ['k1'], groupIds: [] };
      for (const by of ['day', 'model', 'provider'] as const)
        expect(await used.ledger.summarizeUsage({ by, within })).toEqual(await used.ledger.summarizeUsage({ by }));
      const listed = await used.ledger.listUnpriced();
      expect(listed.reduce((sum, { requests }) => sum + requests, 0)).toBe(sums.unpricedRequests);
      expect(await used.ledger.countRequests({})).toMatchObject({ requests: rows.length, failed: 2, refused: 1 });
      expect(await used.ledger.countRequests({ groupId: 'default' })).toMatchObject({ failed: 2, refused: 1 });
      expect(await used.ids({ outcome: 'failed' })).toEqual([added[5], added[2]]);
      expect(await used.ids({ outcome: 'refused' })).toEqual([added[3]]);
    });

    test('sum what their requests used, cost and failed', async () => {
      add({ session: session(1), costUsd: 0.25, usage: { inputTokens: 10, outputTokens: 2, cachedInputTokens: 4 } });
      add({ session: session(1, 'tools'), costUsd: null, usage: null, outcome: 'error', provider: null, attempts: [] });
      add({ session: session(1, 'tools'), costUsd: 0.5, modelServed: 'gpt-y', startedAt: noon + minute });
      add({ session: null });
      expect((await used.ledger.listSessions({})).sessions).toEqual([
        expect.objectContaining({
          id: idOf(1),
          keyId: 'k1',
          client: 'OpenAI/JS 7.55.0',
          requests: 3,
          turns: 1,
          failed: 1,
          refused: 0,
          inputTokens: 20,
          cachedInputTokens: 4,
          costUsd: 0.75,
          unpricedRequests: 0,
          models: ['gpt-x', 'gpt-y'],
          firstAt: noon,
          lastAt: noon + minute + 20,
          stoppedAt: null,
        }),
      ]);
    });

    test('are listed by their last request and page by page', async () => {
      for (const number of [1, 2, 3, 1]) add({ session: session(number) });
      const first = await used.ledger.listSessions({ limit: 2 });
      expect(first.sessions.map(({ id }) => id)).toEqual([idOf(1), idOf(3)]);
      const second = await used.ledger.listSessions({ limit: 2, before: first.next ?? 0 });
      expect(second.sessions.map(({ id }) => id)).toEqual([idOf(2)]);
      expect(second.next).toBeNull();
    });

    test('are filtered by key, group, client, time, and by what they do', async () => {
      add({ session: session(1), keyId: 'k2', client: 'codex' });
      add({ session: session(2), groupId: 'g2', startedAt: noon + hour });
      expect(await ids({ keyId: 'k2' })).toEqual([idOf(1)]);
      expect(await ids({ client: 'codex' })).toEqual([idOf(1)]);
      expect(await ids({ groupId: 'g2' })).toEqual([idOf(2)]);
      expect(await ids({ within: { keyIds: ['k2'], groupIds: [] } })).toEqual([idOf(1)]);
      expect(await ids({ within: { keyIds: ['k3'], groupIds: ['g2'] } })).toEqual([idOf(2)]);
      expect(await ids({ sinceMs: noon + minute })).toEqual([idOf(2)]);
      expect(await ids({ sinceMs: noon + day })).toEqual([]);
      add({ session: session(3), costUsd: 5 });
      expect(await ids({ stopped: true, stopAtUsd: 5 })).toEqual([idOf(3)]);
      used.ledger.started(began('req_runs', { session: session(4) }));
      expect(await ids({ running: true })).toEqual([idOf(4)]);
    });

    test('that are stopped stay so until they are resumed, also over a restart', async () => {
      add({ session: session(1) });
      add({ session: session(2) });
      expect(await used.ledger.sessionStates.setStopped(idOf(2), noon)).toBe(true);
      expect(await used.ledger.sessionStates.setStopped(idOf(9), noon)).toBe(false);
      await used.restart();
      expect(await ids({ stopped: true })).toEqual([idOf(2)]);
      expect(used.ledger.sessionStates.stopped()).toEqual([idOf(2)]);
      expect(await used.ledger.sessionStates.setStopped(idOf(2), null)).toBe(true);
      expect(used.ledger.sessionStates.stopped()).toEqual([]);
      expect(await ids({ stopped: true })).toEqual([]);
    });

    test('count a request that runs, and do not show what is reserved for it', async () => {
      const reserved = { usage: { inputTokens: 999 }, costUsd: 9 };
      used.ledger.started(began('req_running', { session: session(1) }), reserved);
      expect((await used.ledger.listSessions({})).sessions).toMatchObject([
        { running: 1, requests: 1, inputTokens: 0, costUsd: null, client: null },
      ]);
    });

    test('are joined by a request after it was recorded, or while it runs', async () => {
      const first = add({});
      used.ledger.joined({ requestId: first, startedAt: noon, session: session(1), hasEnded: true });
      add({ session: session(1, 'tools') });
      used.ledger.started(began('req_running'));
      await used.ledger.flush();
      used.ledger.joined({ requestId: 'req_running', startedAt: noon, session: session(2), hasEnded: false });
      add({ session: session(2) });
      const { sessions } = await used.ledger.listSessions({});
      expect(sessions.map(({ id, requests }) => [id, requests])).toEqual([
        [idOf(2), 2],
        [idOf(1), 2],
      ]);
      expect((await used.ledger.getRequest(first))?.session).toEqual(session(1));
    });

    test('are joined by requests that were recorded long after they began, also after a restart', async () => {
      const late = Array.from({ length: 40 }, (_, index) => {
        add({ startedAt: noon + 2 * hour + index * minute });
        return index % 4 === 0
          ? { id: add({ startedAt: noon - index * minute }), startedAt: noon - index * minute }
          : [];
      }).flat();
      await used.restart();
      for (const { id, startedAt } of late)
        used.ledger.joined({ requestId: id, startedAt, session: session(1), hasEnded: true });
      await used.ledger.flush();
      expect(await used.ledger.sessionStates.budgetUsedUsd(idOf(1))).toBeCloseTo(0.01);
      expect((await used.ledger.listSessions({})).sessions).toMatchObject([{ id: idOf(1), requests: 10 }]);
    });

    test('are forgotten with their last request', async () => {
      used.settings.ledger.retentionDays = 2;
      add({ session: session(1), startedAt: Date.now() - 5 * day });
      add({ session: session(2), startedAt: Date.now() });
      await used.ledger.flush();
      await used.ledger.sweep();
      expect(await ids({})).toEqual([idOf(2)]);
      expect(await used.ledger.getSession(idOf(1))).toBeNull();
    });
  });

  budgetContract(subject);
  inFullContract(subject);
}

function budgetContract(subject: StoreSubject): void {
  describe('what a session has used of its budget', () => {
    const used = useLedger(subject);
    const add = adding(used);
    const usedUsd = async () => {
      await used.ledger.flush();
      return used.ledger.sessionStates.budgetUsedUsd(idOf(1));
    };

    test('is the cost of its requests that is known, also after a restart', async () => {
      expect(await usedUsd()).toBe(0);
      for (const costUsd of [0.25, null, 0.5]) add({ session: session(1), costUsd });
      expect(await usedUsd()).toBe(0.75);
      await used.restart();
      expect(await usedUsd()).toBe(0.75);
    });

    test('holds a request that joins it once, whether it has ended or runs', async () => {
      const first = add({ costUsd: 1 });
      used.ledger.joined({ requestId: first, startedAt: noon, session: session(1), hasEnded: true });
      used.ledger.joined({ requestId: first, startedAt: noon, session: session(1), hasEnded: true });
      used.ledger.started(began('req_joins'));
      await used.ledger.flush();
      used.ledger.joined({ requestId: 'req_joins', startedAt: noon, session: session(1), hasEnded: false });
      used.add(ended('req_joins', { costUsd: 2, session: session(1) }));
      expect(await usedUsd()).toBe(3);
    });

    test('is nothing when it is resumed', async () => {
      add({ session: session(1), costUsd: 1 });
      await used.ledger.sessionStates.setStopped(idOf(1), null);
      expect(await usedUsd()).toBe(0);
      add({ session: session(1), costUsd: 2 });
      expect(await usedUsd()).toBe(2);
    });
  });
}

function inFullContract(subject: StoreSubject): void {
  describe('a session in full', () => {
    const used = useLedger(subject);
    const add = adding(used);
    const usage = (inputTokens: number, cachedInputTokens: number, cacheWriteTokens = 0) => ({
      usage: { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens: 1 },
    });
    const requestsOf = async () => (await used.ledger.getSession(idOf(1)))?.requests ?? [];

    test('points at prefixes that changed, and not at those that were read', async () => {
      add({ session: session(1), ...usage(10_000, 0, 9_000) });
      add({ session: session(1, 'tools'), ...usage(12_000, 9_000, 2_000) });
      add({ session: session(1, 'tools'), ...usage(14_000, 0, 13_000) });
      const losses = (await requestsOf()).map(({ cacheLoss }) => cacheLoss);
      expect(losses).toEqual([null, null, { cause: 'prefix', tokens: 11_000, costUsd: null }]);
    });

    test.each([
      ['in part, of a request that cost twice what the prices say', { input: 2, read: 1 }, 28_000 * 2, 2 * 11_000],
      ['not, where it costs the same', { input: 1, read: 1 }, 14_000, 0],
      ['not, where it is free', { input: 0, read: 0 }, 0, 0],
    ])('prices what the cache lost: %s', async (_what, price, costUsd, lostUsd) => {
      const costOf = (_provider: string, _model: string, { inputTokens = 0, cachedInputTokens = 0 }: Usage) =>
        (inputTokens - cachedInputTokens) * price.input + cachedInputTokens * price.read;
      add({ session: session(1), ...usage(10_000, 0, 9_000) });
      add({ session: session(1, 'tools'), ...usage(12_000, 9_000, 2_000) });
      add({ session: session(1, 'tools'), ...usage(14_000, 0, 13_000), costUsd });
      const lossesBy = async (reading: object) =>
        (await used.ledger.getSession(idOf(1), reading))?.requests.map(({ cacheLoss }) => cacheLoss?.costUsd);
      expect(await lossesBy({ costOf })).toEqual([undefined, undefined, lostUsd]);
      expect(await lossesBy({ costOf: () => null })).toEqual([undefined, undefined, null]);
    });

    test('begins with the earliest request of its main conversation that is kept, in memory too', async () => {
      const openingOf = async (reading: object) => (await used.ledger.getSession(idOf(1), reading))?.session.openingId;
      const side = add({ session: session(1, 'prompt', 'bbbbbbbb') });
      const ids = [
        add({ session: session(1) }),
        add({ session: session(1) }),
        add({ session: session(1), captured: 'key' }),
      ];
      expect(await openingOf({})).toBe(ids[2]);
      expect(await openingOf({ inMemory: new Set([side, ids[1]]) })).toBe(ids[1]);
      const { sessions } = await used.ledger.listSessions({ inMemory: new Set([ids[0] ?? '']) });
      expect(sessions.map(({ openingId }) => openingId)).toEqual([ids[0]]);
      const { requests = [] } = (await used.ledger.getSession(idOf(1), { inMemory: new Set([ids[0] ?? '']) })) ?? {};
      expect(requests.map(({ isCaptured }) => isCaptured)).toEqual([false, true, false, true]);
    });

    test('tells a pause and another model from a changed prefix', async () => {
      add({ session: session(1), ...usage(10_000, 9_000) });
      add({ session: session(1), ...usage(10_000, 0, 9_000), startedAt: noon + 301_000 });
      add({ session: session(1), ...usage(10_000, 0), startedAt: noon + 302_000, modelServed: 'gpt-y' });
      const read = await requestsOf();
      expect(read.map(({ cacheLoss }) => cacheLoss?.cause ?? null)).toEqual([null, 'pause', 'target']);
      expect(read.map(({ modelBefore }) => modelBefore)).toEqual([null, null, 'gpt-x']);
    });

    test('says nothing of an input that became shorter, except that it did', async () => {
      add({ session: session(1), ...usage(10_000, 9_000) });
      add({ session: session(1), ...usage(2_000, 0) });
      expect((await requestsOf()).map(({ cacheLoss, isShorter }) => [cacheLoss, isShorter])).toEqual([
        [null, false],
        [null, true],
      ]);
    });

    test('takes what a request reserved for no length of its input', async () => {
      const reserved = { ...usage(128_000, 0), usageCertainty: 'reserved', outcome: 'stream-broken' } as const;
      add({ session: session(1), ...usage(10_000, 0) });
      add({ session: session(1, 'tools'), ...reserved });
      add({ session: session(1, 'tools'), ...usage(11_000, 0) });
      add({ session: session(1, 'tools'), ...reserved });
      used.ledger.started(began('req_running', { session: session(1, 'tools') }), {
        usage: { inputTokens: 128_000 },
        costUsd: 1,
      });
      const full = await used.ledger.getSession(idOf(1));
      expect(
        full?.requests.map(({ usageCertainty, inputTokens, isShorter }) => [usageCertainty, inputTokens, isShorter]),
      ).toEqual([
        ['reported', 10_000, false],
        ['reserved', 128_000, false],
        ['reported', 11_000, false],
        ['reserved', 128_000, false],
        ['none', null, false],
      ]);
      expect(full?.turns.map(({ contextTokens }) => contextTokens)).toEqual([11_000]);
    });

    test('shows the results of tools, and how large the context of each turn has become', async () => {
      const tools = [{ name: 'Read', bytes: 12, hasFailed: true }];
      add({ session: session(1), ...usage(100, 0) });
      add({ session: { ...session(1, 'tools'), tools }, ...usage(200, 0) });
      add({ session: session(1, 'prompt', 'bbbbbbbb'), ...usage(900, 0) });
      used.ledger.started(began('req_running', { session: { ...session(1, 'tools'), tools } }));
      const full = await used.ledger.getSession(idOf(1));
      expect(full?.requests.map((request) => request.tools)).toEqual([[], tools, [], tools]);
      expect(full?.turns.map(({ contextTokens }) => contextTokens)).toEqual([200]);
    });

    test('has its turns with their sums', async () => {
      add({ session: session(1), costUsd: 1 });
      add({ session: session(1, 'prompt', 'bbbbbbbb'), costUsd: 2 });
      add({ session: session(1, 'tools'), costUsd: 4, startedAt: noon + 1_000 });
      add({ session: session(1), costUsd: 8, startedAt: noon + 2_000 });
      const full = await used.ledger.getSession(idOf(1));
      expect(full?.turns).toMatchObject([
        { turn: 1, requests: 3, costUsd: 7, startedAt: noon, endedAt: noon + 1_020 },
        { turn: 2, requests: 1, costUsd: 8 },
      ]);
      expect(full?.requests.map(({ thread }) => thread)).toEqual([0, 1, 0, 0]);
      expect(full?.session.turns).toBe(2);
    });

    test('is null for an unknown id', async () => {
      expect(await used.ledger.getSession(idOf(1))).toBeNull();
    });
  });
}
