import { describe, expect, it } from 'vitest';
import { en } from '../../../renderer/messages/en/en.ts';
import { createFormats, type Formats } from '../../../renderer/messages/formats.ts';
import { regionalTag } from '../../../renderer/messages/preferred-language.ts';
import { zh } from '../../../renderer/messages/zh/zh.ts';
import { presets } from '../../../server/providers/presets.ts';

/** Names, addresses and placeholders that are the same in every language. */
const untranslated = new Set([
  'appName',
  'labelled',
  'health.withReason',
  'health.ofModel',
  'health.stop',
  'overview.columns.tokens',
  'probe.findings.way-failed',
  'settings.network.way',
  'status.baseUrl',
  'createKey.namePlaceholder',
  'requests.keyPlaceholder',
  'providers.add.address',
  'playground.panels.responses',
  'groups.capabilities.responses',
  'limits.units.tokens',
  'settings.units.mebibytes',
  'settings.units.kibibytes',
  'prices.actOn',
  'providers.add.foundApi',
  'people.tabs.tokens',
  'tokens.title',
  'tokens.namePlaceholder',
  'joining.urlPlaceholder',
]);
/** Names of APIs. */
const untranslatedGroups = ['providers.add.apiNames.'];
/** Texts whose English is the engine's, so that only translations stand here. */
const engineGroups = ['providers.add.presetNames.', 'providers.add.presetHints.', 'providers.add.apiNames.'];

describe('the messages', () => {
  it('are all translated to Chinese', () => {
    const english = texts(en);
    const chinese = texts(zh);
    const ownTexts = [...chinese.keys()].filter((path) => !engineGroups.some((prefix) => path.startsWith(prefix)));
    expect(ownTexts).toEqual([...english.keys()]);
    const left = [...chinese].filter(([path, text]) => isTranslated(path) && !/\p{Script=Han}/u.test(text));
    expect(left.map(([path]) => path)).toEqual([]);
  });

  it('have units of time in Chinese', () => {
    const left = [...texts(zh)].filter(([, text]) => /[\d›] ?(?:ms|s|sec|min|h|hr)\b/.test(text));
    expect(left.map(([path]) => path)).toEqual([]);
  });

  it('use every argument that the English ones use', () => {
    const chinese = texts(zh);
    const lost = [...texts(en)].filter(([path, text]) => {
      const said = chinese.get(path) ?? '';
      return (text.match(/‹\w+›/g) ?? []).some((argument) => !said.includes(argument)) && !countPaths.has(path);
    });
    expect(lost.map(([path]) => path)).toEqual([]);
  });
});

function isTranslated(path: string): boolean {
  return !untranslated.has(path) && !untranslatedGroups.some((prefix) => path.startsWith(prefix));
}

/** Texts whose first argument only decides between singular and plural. */
const countPaths = new Set([
  'status.ledgerDropped',
  'providers.modelCount',
  'providers.test.listed',
  'providers.activity.requests',
  'createKey.expiryDays',
  'audit.details',
]);

describe('formats', () => {
  const english = createFormats('en', en);

  it('put a space between two English sentences and none between two Chinese ones', () => {
    const joined = ({ gap }: { gap: string }, one: string, other: string) => [one, other].join(gap);
    expect(joined(english, en.settings.lost.forGood, en.settings.lost.forGood)).not.toMatch(/\.\S/);
    expect(joined(createFormats('zh', zh), zh.settings.lost.forGood, zh.settings.lost.forGood)).not.toMatch(/。\s/);
  });

  it.each([
    [0, 'just now'],
    [4_999, 'just now'],
    [5_000, '5 sec. ago'],
    [59_999, '59 sec. ago'],
    [60_000, '1 min. ago'],
    [3_600_000, '1 hr. ago'],
    [86_400_000, '1 day ago'],
    [-5_000, 'just now'],
  ])('say of %s ms ago "%s"', (age, text) => {
    expect(english.ago(1_000_000_000_000 - age, 1_000_000_000_000)).toBe(text);
  });

  it.each([
    [0.4, '0 ms'],
    [999.4, '999 ms'],
    [999.7, '1.0 s'],
    [1_250, '1.3 s'],
    [59_960, '1 min 0 s'],
    [200_000, '3 min 20 s'],
  ])('write a duration of %s ms as "%s"', (durationMs, text) => {
    expect(english.duration(durationMs)).toBe(text);
  });

  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [5_400, '5.4 kB'],
    [999_960, '1.0 MB'],
    [12_345_678, '12.3 MB'],
  ])('write %s bytes as "%s"', (value, text) => {
    expect(english.bytes(value)).toBe(text);
  });

  it.each([
    [0, '$0.00'],
    [0.000123, '$0.00012'],
    [0.042, '$0.042'],
    [0.3, '$0.30'],
    [1.5, '$1.50'],
  ])('write %s dollars as "%s"', (value, text) => {
    expect(english.dollars(value)).toBe(text);
  });

  it('write a day as the person’s region does, with the month’s name', () => {
    const moment = new Date(2026, 10, 3, 9, 5).getTime();
    expect(english.dayAndClock(moment)).toBe('Nov 3, 09:05');
    expect(english.fromTo(moment, moment + 59_999)).toBe('Nov 3, 09:05');
    expect(english.fromTo(moment, moment + 3_600_000)).toBe('Nov 3, 09:05 – 10:05');
    expect(english.fromTo(moment, moment + 86_400_000)).toBe('Nov 3, 09:05 – Nov 4, 09:05');
    const british = createFormats('en', en, { region: regionalTag('en', ['de-DE', 'en-GB']) });
    expect(british.dayAndClock(moment)).toBe('3 Nov, 09:05');
    expect(british.compact(3_800_000)).toBe('3.8M');
  });

  it.each([
    ['en', ['en-GB', 'en-US'], 'en-GB'],
    ['en', ['de-DE'], 'en'],
    ['zh-CN', ['zh-TW', 'zh-SG'], 'zh-SG'],
  ] as const)('follow for %s of %s the habits of %s', (language, wanted, tag) => {
    expect(regionalTag(language, wanted)).toBe(tag);
  });

  it.each([
    ['en', en, 0.000_01, '<€0.0001'],
    ['en', en, 0.0042, '€0.0021'],
    ['en', en, 12, '€6.00'],
    ['zh-CN', zh, 12, '€6.00'],
  ] as const)('show dollars in another currency (%s)', (language, messages, dollars, text) => {
    const formats = createFormats(language, messages, { currency: { code: 'EUR', perDollar: 0.5 } });
    expect(formats.dollars(dollars)).toBe(text);
    expect(formats.exactDollars(2)).toBe(createFormats(language, messages).exactDollars(2));
  });

  const noon = new Date(2026, 10, 3, 12).getTime();
  /** What each writes in Chinese: K, M and the symbols of bytes as everywhere, and no word of English. */
  const inChinese: {
    [Name in keyof Formats]: [given: Parameters<Extract<Formats[Name], (...given: never[]) => string>>, text: string][];
  } = {
    number: [[[7_673], '7,673']],
    compact: [
      [[7_673], '7.7K'],
      [[3_800_000], '3.8M'],
    ],
    percent: [[[0.256], '25.6%']],
    dollars: [[[0.3], '$0.30']],
    cost: [
      [['unknown'], '未知'],
      [['nothing'], '–'],
      [[0.3, '≈'], '≈$0.30'],
    ],
    exactDollars: [[[0.0028], '$0.0028']],
    rate: [[['EUR', 0.9226], '€0.9226']],
    bytes: [
      [[512], '512 B'],
      [[5_400], '5.4 kB'],
      [[1_400_000], '1.4 MB'],
    ],
    duration: [
      [[85], '85 毫秒'],
      [[1_250], '1.3 秒'],
      [[573_000], '9 分 33 秒'],
    ],
    ago: [
      [[noon, noon], '刚刚'],
      [[noon, noon + 30_000], '30 秒前'],
      [[noon, noon + 120_000], '2 分钟前'],
      [[noon, noon + 3 * 3_600_000], '3 小时前'],
      [[noon, noon + 2 * 86_400_000], '2 天前'],
    ],
    moment: [
      [[noon, noon], '12:00:00'],
      [[noon, noon + 86_400_000], '11月3日 12:00'],
    ],
    fullMoment: [[[noon], '2026年11月3日 12:00:00']],
    day: [[[noon], '2026年11月3日']],
    clock: [[[noon], '12:00']],
    dayAndClock: [[[noon], '11月3日 12:00']],
    fromTo: [[[noon, noon + 3_600_000], '11月3日 12:00 – 13:00']],
    shortDay: [[[noon], '11月3日']],
    list: [
      [[['a', 'b', 'c']], 'a、b 和 c'],
      [[['a', '密钥']], 'a 和密钥'],
    ],
    gap: [],
  };
  const chinese = createFormats('zh-CN', zh);

  it.each(Object.entries(inChinese))('speak Chinese: %s', (name, cases) => {
    const format: unknown = chinese[name as keyof Formats];
    const write = (given: unknown[]) => (typeof format === 'function' ? format(...given) : format);
    expect(cases.map(([given]) => write(given))).toEqual(cases.map(([, text]) => text));
  });
});

it('a space stands between Chinese and a Latin name', () => {
  expect([zh.copyNamed('Base URL'), zh.copyNamed(zh.command)]).toEqual(['复制 Base URL', '复制命令']);
});

it('the hints of services are all there in Chinese, and of no other services', () => {
  // The preset `custom` is left out, because its form itself asks for everything in its hint.
  const hinted = presets.filter(({ id, hint }) => hint && id !== 'custom');
  expect(hinted.length).toBeGreaterThan(10);
  expect(Object.keys(zh.providers.add.presetHints).toSorted()).toEqual(hinted.map(({ id }) => id).toSorted());
  for (const { id } of hinted) expect(zh.providers.add.presetHints[id], id).toMatch(/\p{Script=Han}/u);
  expect(presets.map(({ id }) => id)).toEqual(expect.arrayContaining(Object.keys(zh.providers.add.presetNames)));
});

/** All texts by path, with placeholders for the arguments of functions. */
function texts(messages: object, prefix = ''): Map<string, string> {
  const found = new Map<string, string>();
  for (const [name, value] of Object.entries(messages)) {
    const path = prefix + name;
    if (typeof value === 'function') found.set(path, String(value(argument(1), argument(2), argument(3))));
    else if (typeof value === 'string') found.set(path, value);
    else for (const [inner, text] of texts(value, `${path}.`)) found.set(inner, text);
  }
  return found;
}

/** Stands for a string, for an object whose fields the text uses, or for a list of such objects. */
function argument(number: number): unknown {
  const fields: object = new Proxy({}, { get: (_, name) => fieldOf(name) });
  const fieldOf = (name: string | symbol): unknown => {
    if (name === Symbol.toPrimitive || name === 'replace') return () => `‹${number}›`;
    return name === 'map' ? (say: (each: object) => unknown) => [say(fields)] : `‹${String(name)}›`;
  };
  return fields;
}
