import { expect, it } from 'vitest';
import { credentialNameOf } from '../../../../renderer/state/providers/providers.ts';
import { activityOf } from '../../../../renderer/views/providers/provider-state.ts';
import { hourMs } from '../../../../server/contract/units.ts';
import { well } from '../../../support/stand-ins.ts';

const step = (name: string | null, hour: number, requests: number, failed: number, costUsd: number | null) => ({
  ...{ startMs: hour * hourMs, name, requests, failed, costUsd, refused: 0, inputTokens: 0, outputTokens: 0 },
  unpricedRequests: 0,
});

it('what a provider did is told by the hour, with its errors and its cost', () => {
  const activity = activityOf(
    [step('a', 0, 4, 1, 0.5), step('a', 23, 6, 0, null), step('b', 1, 1, 1, null), step(null, 2, 9, 9, 9)],
    0,
  );
  expect([...activity.keys()]).toEqual(['a', 'b']);
  expect(activity.get('a')).toMatchObject({ requests: 10, failed: 1, costUsd: 0.5 });
  expect(activity.get('a')?.hours).toHaveLength(24);
  expect(activity.get('a')?.hours[23]).toEqual({ startMs: 23 * hourMs, requests: 6, failed: 0 });
  expect(activity.get('b')?.costUsd).toBeNull();
});

it.each([
  ['c1', 'team'],
  ['c2', 'SECOND_KEY'],
  ['c3', 'API key 3'],
  ['gone', 'gone'],
])('a credential is called by its label, its variable or its place: %s', (id, name) => {
  const credentials = [
    { label: 'team', reference: 'env:FIRST_KEY' },
    { label: null, reference: 'env:SECOND_KEY' },
    { label: null, reference: 'keychain' },
  ].map((each, index) => ({ ...each, id: `c${index + 1}`, enabled: true, hasSecret: true, health: well }));
  expect(credentialNameOf(credentials, id, { nth: (place) => `API key ${place}` })).toBe(name);
});
