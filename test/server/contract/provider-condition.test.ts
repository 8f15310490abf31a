import { describe, expect, test } from 'vitest';
import {
  type Condition,
  conditionFacts,
  conditionLine,
  conditionOf,
  conditionOfModel,
  conditionOfTarget,
  conditions,
  conditionTexts,
  conditionTextsZh,
  type Tone,
  toneOf,
  troublesOf,
} from '../../../server/contract/provider-condition.ts';
import type { ProviderHealthView, ProviderView } from '../../../server/contract/provider-views.ts';
import { refusedAloneMs, refusedTrialMs } from '../../../server/routing/health/cooldown-rules.ts';
import { provider } from '../../renderer/events.ts';
import { well, wellProvider } from '../../support/stand-ins.ts';

const nowMs = 1_000_000;
const inHealth = (health: Partial<ProviderHealthView>): Partial<ProviderView> => ({
  health: { ...wellProvider, ...health },
});
const credential = { id: 'c1', label: null, reference: 'keychain', enabled: true, hasSecret: false, health: well };
const finding = { code: 'answered', status: 500 } as const;
const broken = { failure: 'transient', failedWith: 500, failures: 3 } as const;
const gone = { ...well, model: 'sora-2', state: 'cooling', failure: 'model-unavailable' } as const;

const limited = { ...well, failure: 'rate-limit', failedWith: 429, failures: 1, failedAt: 2 } as const;

const table: [Condition, Tone, string, string, Partial<ProviderView>][] = [
  ['off', 'none', 'Off', '已关闭', { enabled: false, unusable: 'it is switched off' }],
  [
    ...(['no-credential', 'bad', 'Needs a credential: no enabled credential has a value'] as const),
    '需要凭据：没有可用的凭据（未填写或已停用）',
    { credentials: [credential], unusable: 'none' },
  ],
  [
    ...(['leads-back', 'bad', 'Not usable: its base URL leads back to Sluice itself'] as const),
    '不可用：其 Base URL 指回 Sluice 自身',
    { unusable: 'it leads back' },
  ],
  [
    ...(['refused', 'bad', 'API key rejected', 'API 密钥被拒绝'] as const),
    inHealth({ state: 'refused', failure: 'credential', failedWith: 401 }),
  ],
  [
    ...(['quota', 'bad', 'Quota used up', '配额已用尽'] as const),
    inHealth({ state: 'cooling', failure: 'quota', failedWith: 429, until: nowMs + 1 }),
  ],
  [
    ...(['unreachable', 'bad', 'Cannot be reached: connection refused', '无法连接：连接被拒绝'] as const),
    inHealth({ state: 'cooling', failure: 'transient', failedWith: 'refused', until: nowMs + 1 }),
  ],
  [
    ...(['cooling', 'warning', 'Cooling down: it answers with errors (500)', '冷却中：服务返回错误（500）'] as const),
    inHealth({ state: 'cooling', ...broken, until: nowMs + 1 }),
  ],
  [
    ...(['failing', 'warning', 'Last requests failed: it answers with errors (500)'] as const),
    '最近的请求失败：服务返回错误（500）',
    inHealth({ state: 'cooling', ...broken, until: nowMs }),
  ],
  [
    ...(['failing', 'warning', 'Last requests failed: its rate limit was reached'] as const),
    '最近的请求失败：已达到其速率限制',
    inHealth({ failure: 'rate-limit', failures: 1 }),
  ],
  [
    ...(['failing', 'warning', 'Last requests failed (nova-large): its rate limit was reached'] as const),
    '最近的请求失败（nova-large）：已达到其速率限制',
    { ...inHealth({ ...limited, models: [{ ...limited, model: 'nova-large' }, gone] }), modelNames: ['a', 'b'] },
  ],
  [
    ...(['failing', 'warning', 'Last requests failed (requests without a model): its rate limit was reached'] as const),
    '最近的请求失败（未指明模型的请求）：已达到其速率限制',
    { ...inHealth({ ...limited, models: [{ ...limited, model: null }] }), modelNames: [], takesAnyModel: true },
  ],
  [
    ...([
      'degraded',
      'warning',
      'Ready, 1 of 12 models failing: sora-2',
      '就绪，12 个模型中有 1 个失败：sora-2',
    ] as const),
    {
      ...inHealth({ state: 'degraded', failure: 'model-unavailable', models: [gone] }),
      modelNames: Array.from({ length: 12 }, (_, index) => `m${index}`),
      takesAnyModel: false,
    },
  ],
  ['degraded', 'warning', 'Some requests failing', '部分请求失败', inHealth({ state: 'degraded' })],
  [
    ...(['unlisted', 'warning', 'Couldn’t list models', '无法获取模型列表'] as const),
    { discovery: { refreshedAt: 1, problem: 'it answered 500', finding } },
  ],
  [
    ...(['waiting', 'none', 'Listing models…', '正在获取模型列表…'] as const),
    { discovery: { refreshedAt: null, problem: null, finding: null } },
  ],
  ['untried', 'none', 'Not tried yet', '尚未请求过', { discovery: null, ...inHealth({ answeredAt: null }) }],
  ['ready', 'good', 'Ready', '就绪', { discovery: null }],
  ['ready', 'good', 'Ready', '就绪', { discovery: { refreshedAt: 1, problem: null, finding: null } }],
];

describe('the condition of a provider', () => {
  test.each(table)('is %s, %s, in the same words everywhere: %s', (condition, tone, english, chinese, more) => {
    const view = { ...provider('p'), ...more };
    expect(conditionOf(view, nowMs)).toBe(condition);
    expect(toneOf[condition]).toBe(tone);
    const facts = conditionFacts(view, nowMs);
    expect([conditionTexts, conditionTextsZh].map((texts) => conditionLine(facts, texts))).toEqual([english, chinese]);
    const isTrouble = (tone === 'bad' || tone === 'warning') && condition !== 'degraded';
    expect(troublesOf(view, nowMs)).toEqual(isTrouble ? [{ condition, credential: null }] : []);
  });

  test('is one of the table', () => {
    expect(new Set(table.map(([condition]) => condition))).toEqual(new Set(conditions));
  });

  test('that is told of one of its credentials alone is that of a refused one or one without quota', () => {
    const refused = { ...credential, health: { ...well, state: 'refused', failure: 'credential' } } as const;
    const limited = { ...credential, id: 'c2', health: { ...well, state: 'cooling', failure: 'rate-limit' } } as const;
    const health = { ...wellProvider, state: 'degraded' } as const;
    const view = { ...provider('p'), health, credentials: [refused, limited] };
    expect(troublesOf(view, nowMs)).toEqual([{ condition: 'refused', credential: refused }]);
    expect(troublesOf({ ...view, isDemo: true }, nowMs)).toEqual([]);
  });
});

test('a target is in the condition of its provider, unless only other models of that fail', () => {
  const model = 'm';
  const failing = (...models: string[]) => ({
    ...provider('p'),
    health: { ...wellProvider, state: 'degraded', models: models.map((each) => ({ ...gone, model: each })) } as const,
  });
  expect(conditionOfTarget(failing('m', 'n'), model, nowMs)).toBe('failing');
  expect(conditionOfTarget(failing('n'), model, nowMs)).toBe('ready');
  expect(conditionOfTarget(failing(), model, nowMs)).toBe('degraded');
  expect(conditionOfTarget({ ...failing('n'), enabled: false }, model, nowMs)).toBe('off');
});

test.each([conditionTexts, conditionTextsZh])(
  'a rejected credential is said to be tried as it is: %#',
  ({ refusedTrial }) =>
    expect(refusedTrial.match(/\d+/g)?.map(Number)).toEqual([refusedTrialMs / 60_000, refusedAloneMs / 1_000]),
);

test('a model is in the condition of its best target, and not tried where its provider is not', () => {
  const untried = { ...provider('p'), discovery: null, ...inHealth({ answeredAt: null }) };
  expect(conditionOfModel({ health: well, providers: ['p'] }, [untried], nowMs)).toBe('untried');
  expect(conditionOfModel({ health: well, providers: ['p'] }, [provider('p')], nowMs)).toBe('ready');
  expect(conditionOfModel({ health: well, providers: ['p'] }, [], nowMs)).toBe('ready');
  expect(conditionOfModel({ health: gone, providers: ['p'] }, [untried], nowMs)).toBe('failing');
});

test('a model that nothing is known of is in the condition of its providers where the last requests of all failed', () => {
  const failing = { ...provider('p'), ...inHealth(limited) };
  const cooling = { ...provider('q'), ...inHealth({ ...limited, state: 'cooling', until: nowMs + 1 }) };
  const of = (...providers: string[]) =>
    conditionOfModel({ health: well, providers }, [failing, cooling, provider('r')], nowMs);
  expect(of('p')).toBe('failing');
  expect(of('q', 'p')).toBe('failing');
  expect(of('q')).toBe('cooling');
  expect(of('p', 'r')).toBe('ready');
  expect(of('p', 'unknown')).toBe('ready');
});
