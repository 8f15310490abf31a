import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { deepFreeze } from '../../../server/config/config-store.ts';
import { applyPatch, entriesIn, parseReusing, patchBetween } from '../../../server/config/known-entries.ts';
import { type Config, type ConfigInput, configSchema } from '../../../server/contract/config.ts';

const hash = `sha256:${'0'.repeat(64)}`;
const configOf = (input: Partial<ConfigInput>): Config => deepFreeze(configSchema.parse({ version: 1, ...input }));
const withKeys = (ids: readonly string[]) =>
  configOf({ groups: [{ id: 'team' }], keys: ids.map((id) => ({ id, group: 'team', hash })) });

describe('the difference between two configurations', () => {
  test('leads from the one to the other, in the same order, whatever has changed', () => {
    const ids = fc.uniqueArray(fc.constantFrom(...'abcdefghijkl'), { maxLength: 12 });
    fc.assert(
      fc.property(ids, ids, (first, second) => {
        const before = withKeys(first);
        const known = new Map(before.keys.map((key) => [key.id, key]));
        const all = withKeys(second);
        const after = { ...all, keys: all.keys.map((key) => known.get(key.id) ?? key) };
        const patch: unknown = JSON.parse(JSON.stringify(patchBetween(before, after)));
        expect(applyPatch(before, patch)).toEqual(after);
      }),
    );
  });

  test('contains only what has changed', () => {
    const before = withKeys(Array.from({ length: 1_000 }, (_, index) => `k${index}`));
    const [renamed] = withKeys(['k500']).keys;
    const keys = before.keys.with(500, { ...(renamed as Config['keys'][number]), name: 'Laptop' });
    const patch = patchBetween(before, { ...before, keys });
    expect(patch.keys).toEqual({ at: 500, removed: 1, entries: [keys[500]] });
    expect([patch.groups, entriesIn(patch)]).toEqual([undefined, 1]);
    expect(entriesIn(patchBetween(before, before))).toBe(0);
  });

  test.each([[null], [{ keys: { at: 5, removed: 1, entries: [] } }], [{ keys: [] }]])(
    'is none if it is %j',
    (patch) => {
      expect(applyPatch(withKeys(['a', 'b']), patch)).toBeNull();
    },
  );
});

describe('a configuration beside a valid one', () => {
  const known = withKeys(['a', 'b']);

  test('keeps what has not changed as it is, and parses what is new', () => {
    const keys = [...known.keys, { id: 'c', group: 'team', hash }];
    const parsed = parseReusing({ ...known, keys }, known);
    expect(parsed).toEqual(withKeys(['a', 'b', 'c']));
    expect(parsed?.groups).toBe(known.groups);
    expect(parsed?.keys[1]).toBe(known.keys[1]);
  });

  test.each<[string, object]>([
    ['an entry is wrong', { keys: [...known.keys, { id: 'c', group: 'team' }] }],
    ['a name is there twice', { keys: [...known.keys, { id: 'a', group: 'team', hash }] }],
    ['a reference leads nowhere', { groups: [] }],
    ['a field is not known', { unknown: 1 }],
    ['it has a later version', { version: 3 }],
    ['it has an earlier version', { version: 1 }],
  ])('is for the whole schema if %s', (_why, changes) => {
    expect(parseReusing({ ...known, ...changes }, known)).toBeNull();
  });
});
