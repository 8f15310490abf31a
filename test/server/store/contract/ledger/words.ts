import { describe, expect, test } from 'vitest';
import { shadowAccount } from '../../../../../server/contract/ledger.ts';
import { settledBy } from '../../../../../server/limits/local-limiter.ts';
import type { HistoryRange } from '../../../../../server/store/sqlite/usage-history.ts';
import { attemptRecord } from '../../../../support/stand-ins.ts';
import { capturedExchange } from '../../sqlite/records.ts';
import { began, day, ended, hour, minute, noon, type StoreSubject, useLedger } from '../store-subject.ts';

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

interface WordCase {
  text: string;
  finds: readonly string[];
  /** Words that stand in the text, but not side by side in this order, or not from their beginning. */
  misses?: readonly string[];
}

const wordCases: Readonly<Record<string, WordCase>> = {
  mail: {
    text: 'ask user@example.com now',
    finds: ['example.com', 'user@example', 'USER', 'exam'],
    misses: ['com.example'],
  },
  address: {
    text: 'see https://api.acme.test:8443/v2/items?page_size=5#top-row',
    finds: [
      'api.acme.test',
      'acme',
      'items',
      'page_size',
      'size',
      '8443',
      'top-row',
      'https://api.acme.test:8443/v2/items',
    ],
    misses: ['test.acme', 'v2/page'],
  },
  path: {
    text: 'edit src/translate/parse-request.ts and C:\\\\Temp\\\\notes.md',
    finds: ['parse-request.ts', 'parse', 'translate/parse', 'request.ts', 'temp', 'notes.md', 'src/trans'],
    misses: ['src/parse', 'ts.request', 'anslate'],
  },
  version: {
    text: 'broke in v1.2.3-beta+build.7',
    finds: ['beta', 'v1.2.3', 'v1.2', 'v1.2.3-beta', 'build'],
    misses: ['v1.3'],
  },
  dotted: {
    text: 'call foo.bar(baz.qux) or qux/quux',
    finds: ['baz.qux', 'qux/quux', 'foo.bar', 'quux'],
    misses: ['bar.foo'],
  },
  composed: {
    text: 'naïve Ünïcödé élève Łódź',
    finds: ['naive', 'unicode', 'e\u0301le\u0300ve', 'ÉLÈVE', 'naïve', 'lodz'.replace('l', 'ł')],
  },
  decomposed: { text: 'cre\u0300me bru\u0302le\u0301e', finds: ['crème', 'creme brulee', 'BRÛL'] },
  vietnamese: { text: 'tiếng Việt', finds: ['tieng', 'tiếng'.normalize('NFD'), 'VIỆT', 'việt'] },
  cases: {
    text: 'Straße ΟΔΥΣΣΕΥΣ İstanbul ﬁne ſign',
    finds: ['STRASSE', 'straße', 'οδυσσευς', 'istanbul', 'fine', 'sign'],
  },
  chinese: {
    text: '我想了解机器学习，请举例',
    finds: ['机器学习', '学习', '习请', '机器 学习'],
    misses: ['习学', '器机'],
  },
  japanese: { text: 'データベースが壊れた', finds: ['データ', 'か\u3099壊れた', '壊れ'], misses: ['タデ'] },
  korean: {
    text: '서버가 응답하지 않습니다',
    finds: ['응답', '서버가', '응답하지'.normalize('NFD')],
    misses: ['답응'],
  },
  thai: { text: 'ภาษาไทย สวัสดี', finds: ['ภาษาไทย', 'สวัสดี'] },
  arabic: { text: 'مرحبا بالعالم', finds: ['مرحبا', 'بالعالم'] },
  devanagari: { text: 'नमस्ते दुनिया', finds: ['नमस्ते', 'दुनिया'] },
  emoji: {
    text: 'ship it 🚀rocket👩‍👩‍👧done',
    finds: ['rocket', 'done', '🚀rocket', 'rocket👩‍👩‍👧done'],
    misses: ['🚀', '👩‍👩‍👧'],
  },
  signs: {
    text: 'fell by 12% in col_umn_a; it\'s "quoted" & <tagged> $var ~tilde',
    finds: ['12%', 'col_umn', 'umn_a', '"quoted"', "it's", '<tagged>', '$var', '~tilde', "quoted' & !( :*"],
    misses: ['%', "'", '"', '\\', '*', ':*', '& | ! ( )', '\0', '\ud800'],
  },
  numbers: { text: 'took 1e5 ms, -3.14 or 0x1F of 1,000,000', finds: ['1e5', '3.14', '0x1f', '1,000,000', '-3.14'] },
  operators: { text: 'NEAR(alpha beta) AND NOT gamma*', finds: ['NEAR', 'AND NOT', 'alpha beta', 'beta gamma', 'not'] },
  broken: { text: 'before\\ud800after null\\u0000byte', finds: ['before', 'after', 'byte', 'null'] },
};

/** The contract of searches in texts: every store takes the same for a word. */
export function wordsContract(subject: StoreSubject): void {
  describe('a word', () => {
    const used = useLedger(subject);
    const record = (id: string, text: string) => {
      used.add(ended(id, { captured: 'group', startedAt: Date.now() - hour }));
      used.ledger.capture(id, capturedExchange(`{"content":"${text.replaceAll('"', '\\"')}"}`, '{}'));
    };

    test('is found in mail addresses, paths, versions, with and without accents, in any script', async () => {
      for (const [name, { text }] of Object.entries(wordCases)) record(`req_${name}`, text);
      for (const [name, { finds, misses = [] }] of Object.entries(wordCases)) {
        for (const search of finds) expect(await used.ids({ search }), search).toContain(`req_${name}`);
        for (const search of misses) expect(await used.ids({ search }), search).not.toContain(`req_${name}`);
      }
    });

    test('is found in errors as in bodies', async () => {
      const error = 'status 404: no such file src/translate/parse-request.ts of naïve@example.com (v1.2.3-beta)';
      used.add(ended('req_failed', { outcome: 'error', attempts: [attemptRecord({ error })] }));
      for (const search of ['parse-request.ts', 'naive', 'example.com', 'beta', 'such file', 'transl'])
        expect(await used.ids({ search }), search).toEqual(['req_failed']);
      for (const search of ['src/parse', 'com.example']) expect(await used.ids({ search }), search).toEqual([]);
    });

    test('is found beside a common one anywhere in a long text, and not beside one that is elsewhere', async () => {
      record('req_long', `${'red.of.flower '.repeat(1_500)} first.of.all ${'of red '.repeat(300)} very.last.of.words`);
      for (const search of ['last.of.words', 'first.of.all', 'of.wor', 'of.flower', 'very.last'])
        expect(await used.ids({ search }), search).toEqual(['req_long']);
      for (const search of ['words.of', 'last.words', 'first.last', 'all.very', 'flower.first.of'])
        expect(await used.ids({ search }), search).toEqual(search === 'flower.first.of' ? ['req_long'] : []);
    });
  });
}
