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
    const row = usageInRow({ usage, usageCertainty, costUsd: 0.25 }, localization);
    expect(row).toMatchObject({ tokens: '1,200', cost: '$0.25', certainty: undefined });
    expect(row.tokensInFull).not.toContain('\n');
  });

  it.each(['estimated', 'reserved'] as const)('marks %s usage and cost, and says why', (usageCertainty) => {
    const row = usageInRow({ usage, usageCertainty, costUsd: 0.25 }, localization);
    const certainty = certainties[usageCertainty];
    expect(row).toMatchObject({ tokens: '≈1,200', cost: '≈$0.25', certainty });
    expect(row.tokensInFull).toMatch(new RegExp(`1,000.+200.*\n${certainty}$`));
  });

  it('marks a reserved cost whose tokens are unknown', () => {
    const row = usageInRow({ usage: null, usageCertainty: 'reserved', costUsd: 0.25 }, localization);
    expect(row).toEqual({ tokens: '–', tokensInFull: undefined, cost: '≈$0.25', certainty: certainties.reserved });
  });

  it('marks nothing where nothing is known', () => {
    const row = usageInRow({ usage: null, usageCertainty: 'none', costUsd: null }, localization);
    expect(row).toEqual({ tokens: '–', tokensInFull: undefined, cost: '–', certainty: undefined });
  });
});
