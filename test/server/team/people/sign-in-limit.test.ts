import { expect, test } from 'vitest';
import { SignInLimit } from '../../../../server/team/people/sign-in-routes.ts';

test('sixty attempts to sign in a minute are one address’s share', () => {
  let nowMs = 0;
  const limit = new SignInLimit(() => nowMs);
  for (let attempt = 0; attempt < 60; attempt++) limit.count('198.51.100.4');
  expect(() => limit.count('198.51.100.4')).toThrow('Too many attempts');
  limit.count('198.51.100.5');
  nowMs = 60_000;
  limit.count('198.51.100.4');
});
