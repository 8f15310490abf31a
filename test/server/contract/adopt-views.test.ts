import { expect, test } from 'vitest';
import { isOwnFormat } from '../../../server/contract/change-views.ts';

test.each([
  ['an exported configuration', { version: 2, groups: [] }, true],
  ['one of a later version', { version: 99 }, true],
  ['a team preset', { teamPreset: 1 }, true],
  ['CC Switch’s configuration, which has a version too', { version: 2, claude: { providers: {}, current: '' } }, false],
  ['claude-code-router’s', { Providers: [] }, false],
])('%s is told from others', (_, value, isOwn) => {
  expect(isOwnFormat(value)).toBe(isOwn);
});
