import { beforeEach, describe, expect, test } from 'vitest';
import { outcomes } from '../../../../../server/contract/comparison.ts';
import { isFailed, verdictOf } from '../../../../../server/contract/count.ts';
import type { RequestOutcome } from '../../../../../server/contract/ledger.ts';
import { fitsFilter } from '../../../../../server/contract/request-filter.ts';
import type { RequestConditions } from '../../../../../server/store/rules/request-conditions.ts';
import { containsPhrases, phrasesOf } from '../../../../../server/store/rules/searchable-text.ts';
import { indexedText } from '../../../../../server/store/sqlite/text-index.ts';
import { attemptRecord } from '../../../../support/stand-ins.ts';
import { capturedExchange, sessionMark } from '../../sqlite/records.ts';
import { began, day, ended, hour, minute, noon, type StoreSubject, useLedger } from '../store-subject.ts';

export function requestsContract(subject: StoreSubject): void {
  describe('requests', () => {
    const used = useLedger(subject);

    test('are listed newest first, a page at a time, none twice and none left out', async () => {
      for (let index = 0; index < 25; index += 1) used.add(ended(`req_${index}`, { startedAt: noon + index }));
      const seen: string[] = [];
      let before: number | null | undefined;
      let pages = 0;
      while (before !== null) {
        const page = await used.ledger.listRequests({ limit: 10, ...(before === undefined ? {} : { before }) });
        seen.push(...page.requests.map(({ id }) => id));
        before = page.next;
        pages += 1;
      }
      expect(seen).toEqual(Array.from({ length: 25 }, (_, index) => `req_${24 - index}`));
      expect(pages).toBe(3);
    });

    const filters: [string, RequestConditions][] = [
      ['key', { keyId: 'k2' }],
      ['group', { groupId: 'g2' }],
      ['provider', { provider: 'p2' }],
      ['model that was asked for', { model: 'asked' }],
      ['model that was served', { model: 'served' }],
      ['client', { client: 'aider' }],
      ['capability', { capability: 'embeddings' }],
      ['outcome', { outcome: 'error' }],
      ['failure of any kind', { outcome: 'failed' }],
      ['status', { status: '429' }],
      ['class of status', { status: '4xx' }],
      ['least status', { status: '>=400' }],
      ['status below another, but for other conditions', { status: '<500', keyId: 'k2' }],
      ['cost', { cost: '>0.05' }],
      ['duration', { durationMs: '>=5000' }],
      ['time to the first byte', { firstByteMs: '<=1.5' }],
      ['tokens', { tokens: '<12' }],
      ['first time', { sinceMs: noon + minute }],
      ['one of several keys', { within: { keyIds: ['k2', 'k3'], groupIds: [] } }],
      ['one of several groups', { within: { keyIds: ['k3'], groupIds: ['g2', 'g3'] } }],
      ['search', { search: 'AIDER' }],
      [
        'text that is kept elsewhere',
        { search: 'unsaid', foundElsewhere: [{ id: 'req_meant', startedAt: noon + minute }] },
      ],
    ];

    test('are filtered and counted by all that can be asked for', async () => {
      used.add(
        ended('req_other', {
          costUsd: 0.05,
          totalMs: 4_999,
          firstByteMs: 2,
          usage: { inputTokens: 10, outputTokens: 2 },
        }),
        ended('req_meant', {
          costUsd: 0.06,
          totalMs: 5_000,
          firstByteMs: 1.5,
          usage: { inputTokens: 10, outputTokens: 1 },
          startedAt: noon + minute,
          keyId: 'k2',
          groupId: 'g2',
          provider: 'p2',
          modelAsked: 'asked',
          modelServed: 'served',
          client: 'aider',
          capability: 'embeddings',
          status: 429,
          outcome: 'error',
        }),
      );
      for (const [name, filter] of filters) {
        expect(await used.ids(filter), name).toEqual(['req_meant']);
        const count = await used.ledger.countRequests(filter);
        expect(count, name).toEqual({ requests: 1, failed: 1, refused: 0, isComplete: true });
      }
    });

    test('have no cost or tokens while they run, and are compared with none if they have no value', async () => {
      used.ledger.started(began('req_running'));
      used.add(ended('req_ended', { costUsd: null, firstByteMs: null, usage: null }));
      expect(await used.ids({ tokens: '<1' })).toEqual(['req_ended']);
      for (const filter of [{ cost: '>=0' }, { firstByteMs: '>=0' }, { cost: '<1' }])
        expect(await used.ids(filter)).toEqual([]);
    });

    test('have one verdict, which filters, counts, sessions and usage agree on', async () => {
      const outcomesOfRows: RequestOutcome[] = ['ok', 'error', 'client-gone', 'stream-broken', 'interrupted'];
      const judged = outcomesOfRows.flatMap((outcome) =>
        [null, 'rate-limit'].flatMap((fault) =>
          [null, 'openai'].flatMap((provider) =>
            [null, 200, 399, 400, 404, 499, 500, 503].map((status) => ({ outcome, fault, provider, status })),
          ),
        ),
      );
      const rows = judged.map((each, index) =>
        ended(`req_${index}`, { ...each, session: sessionMark('ses_1', { thread: 'a', step: 'prompt' }) }),
      );
      used.ledger.started(began('req_running'));
      used.add(...rows);
      const countOf = (some: readonly string[]) => {
        const all = rows.filter(({ id }) => some.includes(id));
        return {
          failed: all.filter(isFailed).length,
          refused: all.filter((row) => verdictOf(row) === 'refused').length,
        };
      };
      /** The ids by each verdict: none has two. */
      const verdicts: string[] = [];
      for (const outcome of outcomes) {
        const ids =
          outcome === 'running'
            ? ['req_running']
            : rows.filter((row) => fitsFilter(row, { outcome })).map(({ id }) => id);
        expect((await used.ids({ outcome })).toSorted(), outcome).toEqual(ids.toSorted());
        const count = { requests: ids.length, ...countOf(ids), isComplete: true };
        expect(await used.ledger.countRequests({ outcome }), outcome).toEqual(count);
        if (outcome !== 'failed') verdicts.push(...ids);
      }
      expect(verdicts.toSorted()).toEqual(['req_running', ...rows.map(({ id }) => id)].toSorted());
      const sums = countOf(rows.map(({ id }) => id));
      expect(sums).toEqual({ failed: 45, refused: 3 });
      expect(await used.ledger.countRequests({})).toMatchObject({ requests: rows.length + 1, ...sums });
      expect(await used.ledger.countRequests({ keyId: 'k1' })).toMatchObject(sums);
      expect(await used.ledger.summarizeUsage({ by: 'day' })).toMatchObject([{ requests: rows.length, ...sums }]);
      const time = { sinceMs: noon, untilMs: noon + minute, stepMs: minute };
      expect(await used.ledger.usageOverTime({ by: 'key', ...time })).toMatchObject([sums]);
      expect((await used.ledger.listSessions({})).sessions).toMatchObject([sums]);
    });

    test('are left only if all conditions hold', async () => {
      used.add(
        ended('req_1', { client: 'aider', status: 429 }),
        ended('req_2', { client: 'aider' }),
        ended('req_3', { status: 429 }),
      );
      expect(await used.ids({ client: 'aider', status: '4xx' })).toEqual(['req_1']);
      expect(await used.ids({ client: 'aider', keyId: 'nobody' })).toEqual([]);
      expect(await used.ids({ within: { keyIds: [], groupIds: [] } })).toEqual([]);
    });

    test('of a span of time hold its begin and not its end, also where a clock was set back', async () => {
      for (const [index, minutes] of [0, 300, 600, 590, 900].entries())
        used.add(ended(`req_${index}`, { startedAt: noon - day + minutes * minute }));
      const from = noon - day;
      expect(await used.ids({ sinceMs: from + 590 * minute })).toEqual(['req_4', 'req_3', 'req_2']);
      expect(await used.ids({ sinceMs: from + 595 * minute, untilMs: from + 900 * minute })).toEqual(['req_2']);
      expect(await used.ids({ untilMs: from })).toEqual([]);
    });

    test('of a span of time are found, whatever the order in which they were recorded', async () => {
      const spanOf = (sinceMs: number) => ({ sinceMs, untilMs: sinceMs + hour });
      const misplaced = [-20 * day, -6 * day, -day, -3 * hour, 5 * hour, 3 * day];
      for (let index = 0; index < 1_200; index++) {
        used.add(ended(`req_${index}`, { startedAt: noon + index }));
        const offset = index % 200 === 100 ? misplaced[Math.floor(index / 200)] : undefined;
        if (offset !== undefined) used.add(ended(`req_at_${offset}`, { startedAt: noon + offset, firstByteMs: 5 }));
      }
      for (const offset of misplaced) {
        const span = spanOf(noon + offset);
        expect(await used.ids(span)).toEqual([`req_at_${offset}`]);
        expect((await used.ledger.firstByteTimes({ ...span, stepMs: hour })).steps).toMatchObject([{ samples: 1 }]);
      }
      expect(await used.ledger.countRequests(spanOf(noon))).toMatchObject({ requests: 1_200 });
      const ofDay = (await used.ledger.summarizeUsage({ by: 'day' })).reduce((sum, { requests }) => sum + requests, 0);
      expect(ofDay).toBe(1_206);
    });

    test('that are rare are found among many, also when they end long after others', async () => {
      used.add(ended('req_rare', { keyId: 'rare' }));
      used.ledger.started(began('req_long'));
      await used.ledger.flush();
      for (let index = 0; index < 5_000; index += 1) used.add(ended(`req_${index}`));
      await used.ledger.flush();
      used.add(ended('req_long', { provider: 'slow' }));
      expect(await used.ids({ keyId: 'rare' })).toEqual(['req_rare']);
      expect(await used.ids({ provider: 'slow' })).toEqual(['req_long']);
      expect(await used.ledger.getRequest('req_rare')).toMatchObject({ keyId: 'rare' });
    });

    test('are found by an id that has their time, and by its beginning', async () => {
      const idAt = (timeMs: number) => `req_${timeMs.toString(16).padStart(12, '0')}${'a'.repeat(20)}`;
      const [one, other] = [idAt(noon - day), idAt(noon)];
      used.add(ended(one, { startedAt: noon - day }), ended(other));
      expect((await used.ledger.getRequest(one))?.id).toBe(one);
      expect(await used.ledger.getRequest(idAt(noon + 1))).toBeNull();
      expect(await used.ids({ search: one.slice(0, 16) })).toEqual([one]);
      expect(await used.ids({ search: 'req_' })).toEqual([]);
    });

    test('are counted, with those that failed', async () => {
      for (let index = 0; index < 30; index++)
        used.add(ended(`req_${index}`, { keyId: index < 20 ? 'a' : 'b', outcome: index % 10 ? 'ok' : 'error' }));
      used.add(ended('req_gone', { keyId: 'a', outcome: 'client-gone' }));
      expect(await used.ledger.countRequests({})).toEqual({ requests: 31, failed: 3, refused: 0, isComplete: true });
      expect(await used.ledger.countRequests({ keyId: 'a' })).toEqual({
        requests: 21,
        failed: 2,
        refused: 0,
        isComplete: true,
      });
      expect(await used.ledger.countRequests({ keyId: 'c' })).toEqual({
        requests: 0,
        failed: 0,
        refused: 0,
        isComplete: true,
      });
    });

    test('are sorted by a column, without those that have no value there', async () => {
      used.add(
        ended('req_slow', { totalMs: 900, costUsd: 0.1, firstByteMs: 5, usage: { inputTokens: 3 } }),
        ended('req_dear', { totalMs: 50, costUsd: 2, firstByteMs: 90, usage: { outputTokens: 9 } }),
        ended('req_unpriced', { totalMs: 10, costUsd: null, firstByteMs: null }),
      );
      used.ledger.started(began('req_running'));
      const sorted = (by: 'duration' | 'cost' | 'tokens' | 'first-byte', isAscending = false) =>
        used.ids({ sort: { by, isAscending } });
      expect(await sorted('duration')).toEqual(['req_slow', 'req_dear', 'req_unpriced']);
      expect(await sorted('duration', true)).toEqual(['req_unpriced', 'req_dear', 'req_slow']);
      expect(await sorted('cost')).toEqual(['req_dear', 'req_slow']);
      expect(await sorted('first-byte')).toEqual(['req_dear', 'req_slow']);
      expect(await sorted('tokens')).toEqual(['req_unpriced', 'req_dear', 'req_slow']);
      expect(await used.ids({ sort: { by: 'cost', isAscending: true }, limit: 1 })).toEqual(['req_slow']);
    });

    test('that are too many to be sorted say of how many of the newest they are', async () => {
      for (let index = 0; index < 10_500; index++) {
        used.add(ended(`req_${index}`, { totalMs: index }));
        if (index % 2_000 === 0) await used.ledger.flush();
      }
      const page = await used.ledger.listRequests({ sort: { by: 'duration', isAscending: true }, limit: 5 });
      expect(page).toMatchObject({ next: null, sortedOf: 10_000 });
      expect(page.requests[0]?.totalMs).toBe(500);
    });
  });

  namesContract(subject);
  searchContract(subject);
}

function namesContract(subject: StoreSubject): void {
  describe('names', () => {
    const used = useLedger(subject);

    test('that occur are listed in their order, those of models asked for or served', async () => {
      used.add(
        ended('req_1', { modelAsked: 'fast', modelServed: 'gpt-x', client: 'b', provider: null }),
        ended('req_2', {
          modelAsked: 'Fast',
          modelServed: null,
          client: 'a',
          outcome: 'error',
          errorCode: 'e',
          status: 404,
        }),
      );
      const names = async (dimension: Parameters<typeof used.ledger.listNames>[0]) => used.ledger.listNames(dimension);
      expect(await names('model')).toEqual(['Fast', 'fast', 'gpt-x']);
      expect(await names('client')).toEqual(['a', 'b']);
      expect(await names('provider')).toEqual(['main']);
      expect(await names('key')).toEqual(['k1']);
      expect(await names('group')).toEqual(['default']);
      expect(await names('capability')).toEqual(['chat']);
      expect(await names('outcome')).toEqual(['error', 'ok']);
      expect(await names('status')).toEqual(['200', '404']);
      expect(await names('error')).toEqual(['e']);
    });

    test('of clients are told with their keys, the one used last first, without shadows', async () => {
      const python = 'OpenAI/Python 2.8.0';
      const use = (client: string | null, keyId: string, at: number) =>
        used.add(ended(`req_${at}`, { client, keyId, startedAt: noon + at }));
      use('curl/8.5.0', 'k1', 1);
      use(python, 'k1', 2);
      use(null, 'k1', 3);
      for (let index = 0; index < 5_000; index += 1) use(python, 'k2', 10 + index);
      use('curl/8.5.0', 'k1', 6_000);
      expect(await used.ledger.listClients()).toEqual([
        { client: 'curl/8.5.0', keyId: 'k1', lastUsedAt: noon + 6_000 },
        { client: python, keyId: 'k2', lastUsedAt: noon + 5_009 },
        { client: python, keyId: 'k1', lastUsedAt: noon + 2 },
      ]);
    });

    test('of models whose price was not known are told with the number of their requests, most first', async () => {
      for (let index = 0; index < 40; index += 1)
        used.add(ended(`req_${index}`, { costUsd: null, modelServed: 'often' }));
      used.add(
        ended('req_b', { costUsd: null, provider: 'other', modelServed: null, modelAsked: 'once' }),
        ended('req_priced', { costUsd: 0.5, modelServed: 'priced' }),
        ended('req_free_of_usage', { costUsd: null, modelServed: 'failed', outcome: 'error', usage: null }),
        ended('req_looked_up', { costUsd: null, modelServed: 'looked-up', method: 'GET', usage: null }),
        ended('req_refused', { costUsd: null, provider: null, modelServed: null, outcome: 'error' }),
      );
      expect(await used.ledger.listUnpriced()).toEqual([
        { provider: 'main', model: 'often', requests: 40 },
        { provider: 'other', model: 'once', requests: 1 },
      ]);
    });
  });
}

function searchContract(subject: StoreSubject): void {
  describe('a search', () => {
    const used = useLedger(subject);
    /** The words of each capture. */
    const said = new Map<string, string>();
    beforeEach(() => said.clear());
    const capture = (id: string, request: string, response = '') => {
      used.add(ended(id, { captured: 'group', startedAt: Date.now() - hour }));
      used.ledger.capture(id, capturedExchange(request, response));
      said.set(id, indexedText({ request: Buffer.from(request), response: Buffer.from(response) }, []));
    };
    /** By the index, and among captures that are in none: the same. */
    const found = async (search: string) => {
      const isFound = (words: string) => containsPhrases(words, phrasesOf(search));
      const inMemory = [...said].flatMap(([id, words]) => (isFound(words) ? [id] : []));
      const ids = await used.ids({ search });
      expect(inMemory.toReversed(), search).toEqual(ids.filter((id) => said.has(id)));
      return ids;
    };

    test('finds ids, models, providers, clients, error codes and what attempts failed of', async () => {
      used.add(
        ended('req_abcdef', { client: 'aider/0.86', modelServed: 'qwen3-32b', provider: 'acme' }),
        ended('req_123456', {
          outcome: 'error',
          errorCode: 'upstream_timeout',
          attempts: [attemptRecord({ error: 'status 429: Rate limit reached for “gpt-5”, try again in 2s' })],
        }),
      );
      for (const search of ['AIDER', 'qwen3', 'acme']) expect(await used.ids({ search })).toEqual(['req_abcdef']);
      for (const search of ['upstream_time', 'rate limit', 'reached again', 'Rate lim'])
        expect(await used.ids({ search })).toEqual(['req_123456']);
      for (const search of ['nothing', 'limit nothing', '100%', '"', "' OR 1=1 --", '& | ! ( ) :*'])
        expect(await used.ids({ search })).toEqual([]);
    });

    test('finds words of captured bodies, also escaped, begun, in pieces of a stream, and in Chinese', async () => {
      capture(
        'req_json',
        '{"messages":[{"role":"user","content":"first line\\nsecond \\u0077ord"}]}',
        '{"answer":"Hallo"}',
      );
      capture('req_stream', '{}', 'data: {"delta":{"content":"Hel"}}\n\ndata: {"delta":{"content":"lo wor"}}\n\n');
      capture('req_chinese', '{"content":"请帮我写一个排序算法"}');
      capture('req_signs', `it's \\'quoted' & | ! ( ) :* text`);
      expect(await found('second word')).toEqual(['req_json']);
      expect(await found('hallo')).toEqual(['req_json']);
      expect(await found('hal')).toEqual(['req_json']);
      expect(await found('hello')).toEqual(['req_stream']);
      expect(await found('排序')).toEqual(['req_chinese']);
      expect(await found("quoted' & !( :*")).toEqual(['req_signs']);
      expect(await found('hallo hello')).toEqual([]);
    });

    test('finds characters of languages without spaces in the order of the search, side by side', async () => {
      capture('req_learning', '{"content":"我想了解机器学习，请用GPT模型举例。"}');
      capture('req_habits', '{"content":"好习惯：学，再练；器物与机会"}');
      const attempts = [attemptRecord({ error: 'status 400: 模型不存在' })];
      used.add(ended('req_failed', { outcome: 'error', attempts }));
      for (const search of ['学习', '机器学习', '习请', 'GPT模', '学习 模型']) {
        expect(await found(search), search).toEqual(['req_learning']);
      }
      for (const search of ['习学', '机习', '器机', '在存']) expect(await found(search), search).toEqual([]);
      expect(await found('模型不存在')).toEqual(['req_failed']);
      expect((await found('习')).toSorted()).toEqual(['req_habits', 'req_learning']);
    });

    test('finds a common character anywhere in a long text', async () => {
      capture('req_long', `{"content":"${'红的花'.repeat(2_000)}，最后的话"}`);
      expect(await found('最后的话')).toEqual(['req_long']);
    });

    test('finds the latest message of a long conversation', async () => {
      capture('req_long', `{"content":"${'word '.repeat(50_000)} the needle"}`);
      expect(await found('needle')).toEqual(['req_long']);
    });

    test('holds together with other filters', async () => {
      capture('req_1', 'banana');
      used.add(ended('req_2', { modelServed: 'banana', keyId: 'k2' }));
      expect(await used.ids({ search: 'banana' })).toEqual(['req_2', 'req_1']);
      expect(await used.ids({ search: 'banana', keyId: 'k1' })).toEqual(['req_1']);
      expect(await used.ids({ search: 'banana', keyId: 'k3' })).toEqual([]);
    });
  });
}
