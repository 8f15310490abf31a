import { expect, test } from 'vitest';
import { en } from '../../../../../renderer/messages/en/en.ts';
import { usageAmounts } from '../../../../../renderer/views/requests/facts/usage-amounts.ts';

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
