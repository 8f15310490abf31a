import { describe, expect, it } from 'vitest';
import { en } from '../../../../../renderer/messages/en/en.ts';
import { createFormats } from '../../../../../renderer/messages/formats.ts';
import { zh } from '../../../../../renderer/messages/zh/zh.ts';
import { usageInRow } from '../../../../../renderer/views/requests/list/usage-in-row.ts';
import type { UsageCertainty } from '../../../../../server/contract/ledger.ts';

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
