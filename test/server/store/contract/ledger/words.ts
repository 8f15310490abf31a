import { describe, expect, test } from 'vitest';
import { attemptRecord } from '../../../../support/attempt-record.ts';
import { capturedExchange } from '../../sqlite/records.ts';
import type { StoreSubject } from '../store-subject.ts';
import { ended, hour, useLedger } from './used-ledger.ts';

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
