import { describe, expect, test } from 'vitest';
import type { RequestRecord } from '../../../../../server/contract/ledger.ts';
import type { Ledger } from '../../../../../server/store/sqlite/ledger.ts';
import { attemptRecord } from '../../../../support/stand-ins.ts';
import { capturedExchange, healthy, sessionMark, shadowed } from '../../sqlite/records.ts';
import { job } from '../jobs.ts';
import { began, ended, minute, noon, rescued, type StoreSubject, useLedger, useStore } from '../store-subject.ts';
import { hostileContract } from './hostile.ts';
import { keptContract } from './kept.ts';
import { requestsContract } from './requests.ts';
import { sessionsContract } from './sessions.ts';
import { overTimeContract, usageContract } from './usage.ts';
import { spentContract, wordsContract } from './words.ts';

// Requests that end in a later batch than they began: all that is derived from them must lead back to them.

export function lateEndsContract(subject: StoreSubject): void {
  describe('requests that end after others began', () => {
    const used = useLedger(subject);
    const idOf = (index: number) => `req_${index}`;
    const session = (index: number) => sessionMark(`ses_${index % 5}`);
    const fails = (index: number) => index % 7 === 3;

    async function begin(index: number): Promise<void> {
      used.ledger.started(began(idOf(index), { session: session(index), modelAsked: `model-${index}` }));
      await used.ledger.flush();
    }

    function end(index: number): void {
      const attempts = [attemptRecord({ error: `ember${index}x` })];
      const error = { outcome: 'error' as const, status: 500, attempts };
      const more = { session: session(index), modelAsked: `model-${index}`, provider: `provider-${index}` };
      used.add(ended(idOf(index), { ...more, captured: 'group', ...(fails(index) && error) }));
    }

    const capture = (index: number) => used.ledger.capture(idOf(index), capturedExchange(`"animal${index}x"`));

    async function expectFound(index: number): Promise<void> {
      const only = [idOf(index)];
      expect(await used.ids({ search: `animal${index}x` }), `text of ${index}`).toEqual(only);
      expect(await used.ids({ search: `ember${index}x` }), `error of ${index}`).toEqual(fails(index) ? only : []);
      expect(await used.ids({ model: `model-${index}` }), `model of ${index}`).toEqual(only);
      expect(await used.ids({ provider: `provider-${index}` }), `provider of ${index}`).toEqual(only);
    }

    /** Latest first, as their requests are. */
    async function expectSessionsInOrder(): Promise<void> {
      const { requests } = await used.ledger.listRequests({ limit: 1_000 });
      const { sessions } = await used.ledger.listSessions({});
      const ofRequests = new Set(requests.flatMap((request) => request.session?.id ?? []));
      expect(sessions.map(({ id }) => id)).toEqual([...ofRequests]);
    }

    test('are found by their own words, errors and names, and are the last of their own sessions', async () => {
      for (let index = 0; index < 10; index++) {
        await begin(index);
        used.add(ended(`req_between_${index}`));
        await used.ledger.flush();
        end(index);
        capture(index);
        await used.ledger.flush();
      }
      for (let index = 0; index < 10; index++) await expectFound(index);
      await expectSessionsInOrder();
    });

    test('are found so also where fifty run at once and end in another order', async () => {
      for (let index = 0; index < 600; index++) used.add(ended(`req_before_${index}`));
      for (let index = 0; index < 50; index++) await begin(index);
      for (let turn = 0; turn < 50; turn++) {
        const index = (turn * 17) % 50;
        end(index);
        capture(index);
        if (turn % 3 === 0) await used.ledger.flush();
      }
      for (let index = 0; index < 50; index++) await expectFound(index);
      await expectSessionsInOrder();
    });

    test('are found by their words where these are written before or after their end', async () => {
      await begin(1);
      capture(1);
      await used.ledger.flush();
      end(1);
      used.ledger.started(began(idOf(2)));
      capture(2);
      await used.ledger.flush();
      end(2);
      await used.ledger.flush();
      await begin(3);
      end(3);
      await used.ledger.flush();
      capture(3);
      for (const index of [1, 2, 3]) expect(await used.ids({ search: `animal${index}x` })).toEqual([idOf(index)]);
    });
  });
}

const tools = [{ name: 'read_file', bytes: 120, hasFailed: false }];

/** One request of each kind that is stored differently. */
const kinds: RequestRecord[] = [
  ended('an ordinary request'),
  ended('without a key', { keyId: null, groupId: null, capability: null, client: null }),
  ended('refused', { provider: null, outcome: 'error', status: 404, usage: null, attempts: [] }),
  ended('failed', { outcome: 'error', status: 502, errorCode: 'upstream_unreachable', usage: { seconds: 1.5 } }),
  rescued('several attempts'),
  rescued('a broken stream', { stream: true, outcome: 'stream-broken', usageCertainty: 'partial' }),
  ended('of a session', { session: sessionMark('ses_1', { thread: 't1', step: 'prompt', tools }) }),
  ended('a shadow', { shadowOf: shadowed, sameAnswer: false, captured: 'shadow' }),
  ended('of a cassette', { cassette: 'replayed', fault: 'slow', clientRetries: 2 }),
  ended('with losses', {
    dropped: [{ code: 'no-equal', field: 'top_k', times: 1 }],
    emulated: [{ code: 'moved-media', field: 'messages[].content[]', times: 60 }],
  }),
];

export function recordingContract(subject: StoreSubject): void {
  describe('the ledger', () => {
    const used = useLedger(subject);

    test('reads requests of all kinds as they were given, also after a restart', async () => {
      used.add(...kinds);
      const readAll = async () => {
        const read = await Promise.all(kinds.map(({ id }) => used.ledger.getRequest(id)));
        return read.map((view) => ({ ...view, seq: 0 }));
      };
      const expected = kinds.map((record) => ({ ...record, seq: 0 }));
      expect(await readAll()).toEqual(expected);
      await used.restart();
      expect(await readAll()).toEqual(expected);
    });

    test('keeps the times of the only attempt of a stream that went well, and what was dropped of another', async () => {
      const [attempt] = ended('req_1').attempts;
      if (!attempt) throw new Error('unreachable: it has one');
      const attempts = [{ ...attempt, firstContentMs: 15.5, longestGapMs: 3.25 }];
      used.add(ended('req_1', { attempts }), ended('req_2', { attempts: [{ ...attempt, droppedEvents: 2 }] }));
      expect((await used.ledger.getRequest('req_1'))?.attempts).toEqual(attempts);
      expect((await used.ledger.getRequest('req_2'))?.attempts).toMatchObject([{ droppedEvents: 2 }]);
    });

    test('lists a request that runs without an outcome, and completes it in its place', async () => {
      used.ledger.started(began('req_1'));
      used.add(ended('req_2'));
      expect((await used.ledger.listRequests({ outcome: 'running' })).requests).toMatchObject([
        { id: 'req_1', outcome: null, totalMs: null, usage: null, usageCertainty: 'none' },
      ]);
      used.add(ended('req_1'));
      expect((await used.ledger.listRequests({})).requests).toMatchObject([
        { id: 'req_2' },
        { id: 'req_1', outcome: 'ok', totalMs: 20 },
      ]);
    });

    test('makes one row of a beginning and its end that are written together', async () => {
      used.ledger.started(began('req_1'));
      used.ledger.started(began('req_2'));
      used.add(ended('req_1'));
      await used.ledger.flush();
      used.add(ended('req_2'));
      expect(await used.ids({})).toEqual(['req_2', 'req_1']);
      expect(await used.ledger.summarizeUsage({ by: 'key' })).toMatchObject([{ name: 'k1', requests: 2 }]);
    });

    test('has when each key was last used, the latest of all, at once and after a restart', async () => {
      used.add(ended('req_1', { keyId: 'k1', startedAt: noon + 5 }));
      used.ledger.started(began('req_2', { keyId: 'k2', startedAt: noon + 9 }));
      await used.ledger.flush();
      used.add(ended('req_3', { keyId: 'k1', startedAt: noon + 2 }), ended('req_4', { keyId: null }));
      const uses = new Map([
        ['k1', noon + 5],
        ['k2', noon + 9],
      ]);
      expect(used.ledger.lastUsed()).toEqual(uses);
      await used.restart();
      expect(used.ledger.lastUsed()).toEqual(uses);
    });

    test('is well, and nothing waits once it is written', async () => {
      used.add(ended('req_1'));
      await used.ledger.flush();
      expect(used.ledger.health()).toEqual(healthy);
    });

    test('answers everything while it is empty', async () => {
      const { ledger } = used;
      const span = { sinceMs: noon, untilMs: noon + minute };
      expect(await ledger.listRequests(span)).toEqual({
        requests: [],
        next: null,
        sortedOf: null,
        repairedPercent: null,
      });
      expect(await ledger.getRequest('req_1')).toBeNull();
      expect(await ledger.listClients()).toEqual([]);
      expect(await ledger.summarizeUsage({ by: 'day' })).toEqual([]);
      const steps = { ...span, stepMs: minute };
      expect(await ledger.usageOverTime({ by: 'day', ...steps })).toEqual([]);
      expect(await ledger.firstByteTimes(steps)).toEqual({ steps: [], named: [], medianMs: null, p95Ms: null });
      expect(await ledger.sweep()).toBe(0);
    });
  });

  interruptedContract(subject);
  bookingContract(subject);
}

function interruptedContract(subject: StoreSubject): void {
  describe('a request that a run left running', () => {
    const used = useLedger(subject);
    const reserved = { usage: { inputTokens: 40, outputTokens: 512 }, costUsd: 0.25 };
    const spent = (ledger: Ledger) => ledger.history.spent('key', 'k1', { startMs: -Infinity, endMs: Infinity });
    const endRun = async () => {
      await used.restart();
      await subject.findInterrupted?.();
    };

    test('was interrupted, and is an error', async () => {
      for (const id of ['req_1', 'req_2']) used.ledger.started(began(id));
      used.add(ended('req_2'));
      await endRun();
      expect((await used.ledger.listRequests({ outcome: 'interrupted' })).requests).toMatchObject([
        { id: 'req_1', outcome: 'interrupted', totalMs: null, status: null },
      ]);
      expect(await used.ids({ outcome: 'failed' })).toEqual(['req_1']);
      expect(await used.ledger.summarizeUsage({ by: 'key' })).toMatchObject([{ name: 'k1', requests: 2, failed: 1 }]);
    });

    test('counts with what was reserved for it, and says so', async () => {
      used.ledger.started(began('req_1', { session: sessionMark('ses_1') }), reserved);
      await used.ledger.flush();
      expect(await used.ledger.getRequest('req_1')).toMatchObject({ usage: null, costUsd: null });
      expect(await spent(used.ledger)).toEqual({ usd: 0, tokens: 0, unpriced: 0 });
      await endRun();
      expect(await used.ledger.getRequest('req_1')).toMatchObject({
        outcome: 'interrupted',
        usage: reserved.usage,
        usageCertainty: 'reserved',
        costUsd: 0.25,
      });
      expect(await spent(used.ledger)).toEqual({ usd: 0.25, tokens: 552, unpriced: 0 });
      expect(await used.ledger.summarizeUsage({ by: 'key' })).toMatchObject([
        { requests: 1, failed: 1, costUsd: 0.25 },
      ]);
      expect(await used.ledger.sessionStates.budgetUsedUsd('ses_1')).toBe(0.25);
    });

    test('has reserved nothing any more once it has ended', async () => {
      used.ledger.started(began('req_1'), reserved);
      await used.ledger.flush();
      const use = { usage: { inputTokens: 3 }, usageCertainty: 'reported', costUsd: null } as const;
      used.add(ended('req_1', use));
      await endRun();
      expect(await used.ledger.getRequest('req_1')).toMatchObject({ outcome: 'ok', ...use });
      expect(await spent(used.ledger)).toEqual({ usd: 0, tokens: 3, unpriced: 0 });
    });
  });
}

function bookingContract(subject: StoreSubject): void {
  describe('a request that books a job', () => {
    const used = useStore(subject);

    test('settles what the job owes, once and for all', async () => {
      const owed = { usage: { inputTokens: 7 }, costUsd: null };
      used.store.jobs.remember(job('resp_1', { kind: 'response', owed }));
      used.store.jobs.remember(job('resp_2', { kind: 'response', owed }));
      await used.store.jobs.flush();
      used.store.ledger.finished(ended('req_1'), { kind: 'response', groupId: 'default', id: 'resp_1' });
      await used.store.ledger.flush();
      await used.restart();
      expect((await used.store.jobs.owing()).map(({ id }) => id)).toEqual(['resp_2']);
      expect(await used.store.ledger.summarizeUsage({ by: 'key' })).toMatchObject([{ requests: 1, costUsd: 0.001 }]);
    });
  });
}

/** The contract of every implementation of the port `Ledger`. */
export function ledgerContract(subject: StoreSubject): void {
  recordingContract(subject);
  lateEndsContract(subject);
  requestsContract(subject);
  usageContract(subject);
  overTimeContract(subject);
  spentContract(subject);
  sessionsContract(subject);
  keptContract(subject);
  hostileContract(subject);
  wordsContract(subject);
}
