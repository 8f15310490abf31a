import { describe, expect, it, test } from 'vitest';
import { en } from '../../../../../renderer/messages/en/en.ts';
import { createFormats } from '../../../../../renderer/messages/formats.ts';
import { zh } from '../../../../../renderer/messages/zh/zh.ts';
import { gistOf, usageAmounts, usageInRow } from '../../../../../renderer/views/requests/facts/usage-amounts.ts';
import type { UsageCertainty } from '../../../../../server/contract/ledger.ts';
import type { RequestView } from '../../../../../server/contract/request-views.ts';
import { finished } from '../../../events.ts';

test('zeros that providers report with every answer are left out', () => {
  const usage = { inputTokens: 9, cachedInputTokens: 0, outputTokens: 0, reasoningTokens: 3, audioInputTokens: 0 };
  expect(usageAmounts(usage, en.requests.usageNames)).toEqual([
    { name: 'Input tokens', amount: 9 },
    { name: 'Cached input tokens', amount: 0 },
    { name: 'Output tokens', amount: 0 },
    { name: 'Reasoning tokens', amount: 3 },
  ]);
  expect(usageAmounts(null, en.requests.usageNames)).toEqual([]);
});

const localization = { language: 'en', setLanguage() {}, messages: en, formats: createFormats('en', en) } as const;
const gist = (more: Partial<RequestView>) => gistOf({ ...finished('r1'), seq: 1, ...more }, localization).join(' · ');

it('says in one line what a request cost, what went in and out, and how fast', () => {
  const usage = { inputTokens: 8_000, cachedInputTokens: 5_600, outputTokens: 142 };
  const told = { usage, usageCertainty: 'reported', costUsd: 0.012, stream: true, outcome: 'ok' } as const;
  expect(gist({ ...told, firstByteMs: 180, totalMs: 358 })).toBe(
    '$0.012 · 8K in (70% cached) · 142 out · 798 tok/s · first 180 ms · 358 ms',
  );
});

it('marks what is estimated, and leaves out what is not known', () => {
  const usage = { inputTokens: 100, outputTokens: 20 };
  expect(gist({ usage, usageCertainty: 'estimated', costUsd: 0.5, stream: false, totalMs: 2_000 })).toBe(
    '≈$0.50 · ≈100 in · ≈20 out · 2.0 s',
  );
  expect(gist({ usage: null, usageCertainty: 'none', costUsd: null, totalMs: null })).toBe('');
});

const languages = [
  { language: 'en', setLanguage() {}, messages: en, formats: createFormats('en', en) },
  { language: 'zh-CN', setLanguage() {}, messages: zh, formats: createFormats('zh-CN', zh) },
] as const;
const usage = { inputTokens: 1_000, outputTokens: 200 };

describe.each(languages)('the row of a request in $language', (localization) => {
  const { certainties } = localization.messages.requests;

  it.each<UsageCertainty>(['reported', 'partial'])('shows %s usage as it is', (usageCertainty) => {
    const row = usageInRow({ outcome: 'ok', usage, usageCertainty, costUsd: 0.25 }, localization);
    expect(row).toMatchObject({ tokens: '1,200', cost: '$0.25', certainty: undefined });
    expect(row.tokensInFull).not.toContain('\n');
  });

  it.each(['estimated', 'reserved'] as const)('marks %s usage and cost, and says why', (usageCertainty) => {
    const row = usageInRow({ outcome: 'ok', usage, usageCertainty, costUsd: 0.25 }, localization);
    const certainty = certainties[usageCertainty];
    expect(row).toMatchObject({ tokens: '≈1,200', cost: '≈$0.25', certainty });
    expect(row.tokensInFull).toMatch(new RegExp(`1,000.+200.*\n${certainty}$`));
  });

  it('marks a reserved cost whose tokens are unknown', () => {
    const row = usageInRow({ outcome: 'ok', usage: null, usageCertainty: 'reserved', costUsd: 0.25 }, localization);
    expect(row).toEqual({ tokens: '–', tokensInFull: undefined, cost: '≈$0.25', certainty: certainties.reserved });
  });

  it.each([
    ['that runs', null, null, '–'],
    ['that failed before anything was spent', 'error', 0, '–'],
    ['whose cost nobody knows', 'interrupted', null, localization.messages.unknownCost],
  ] as const)('has one word for each meaning: a request %s', (_which, outcome, costUsd, cost) => {
    const row = usageInRow({ outcome, usage: null, usageCertainty: 'none', costUsd }, localization);
    expect(row).toEqual({ tokens: '–', tokensInFull: undefined, cost, certainty: undefined });
  });

  it('has an amount where a free model answered', () => {
    const row = usageInRow({ outcome: 'ok', usage, usageCertainty: 'reported', costUsd: 0 }, localization);
    expect(row).toMatchObject({ cost: '$0.00' });
  });
});
