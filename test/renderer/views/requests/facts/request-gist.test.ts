import { expect, it } from 'vitest';
import { en } from '../../../../../renderer/messages/en/en.ts';
import { createFormats } from '../../../../../renderer/messages/formats.ts';
import { gistOf } from '../../../../../renderer/views/requests/facts/usage-amounts.ts';
import type { RequestView } from '../../../../../server/contract/request-views.ts';
import { finished } from '../../../events.ts';

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
