import { hash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Config, configSchema, keySchema } from '../../../server/contract/config.ts';
import type { Snapshot } from '../../../server/routing/snapshot.ts';
import { compiledFrom } from '../../support/providers.ts';

const hashOf = (secret: string) => `sha256:${hash('sha256', secret)}`;
const later = '2999-01-01T00:00:00.000Z';

/** A key in one of three groups with one of a few secrets, so that some secrets are equal. */
const keys = fc.record({
  id: fc.constantFrom(...'abcdefgh'),
  group: fc.constantFrom('red', 'blue', 'green'),
  secret: fc.constantFrom(...'0123456789'),
  enabled: fc.boolean(),
  isRotated: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
  cassette: fc.constantFrom(undefined, 'off' as const),
});
type Given = typeof keys extends fc.Arbitrary<infer Key> ? Key : never;

function keyOf({ id, group, secret, enabled, isRotated, cassette }: Given): Config['keys'][number] {
  return keySchema.parse({
    ...{ id, group, enabled, cassette, hash: hashOf(secret) },
    ...(isRotated && { previous: { hash: hashOf(`${secret} before`), until: later } }),
  });
}

const base = configSchema.parse({
  version: 1,
  groups: [{ id: 'red', cassette: { folder: '/tapes', mode: 'record' } }, { id: 'blue' }, { id: 'green' }],
});

/** Sorted by name, because the order of the table has no meaning. */
const tableOf = ({ keys: table, notices }: Snapshot) => ({
  keys: [...table].sort(([a], [b]) => (a < b ? -1 : 1)),
  notices,
});

test('keys are compiled after each change as if all of them were compiled anew', () => {
  const lists = fc.array(fc.uniqueArray(keys, { selector: ({ id }) => id, maxLength: 8 }), { maxLength: 6 });
  fc.assert(
    fc.property(lists, (changes) => {
      let known = new Map<string, Config['keys'][number]>();
      let before: Snapshot | undefined;
      for (const change of changes) {
        // Unchanged keys are the same objects.
        const next = change.map((given) => [JSON.stringify(given), keyOf(given)] as const);
        const list = next.map(([name, key]) => known.get(name) ?? key);
        known = new Map(next.map(([name], index) => [name, list[index] as Config['keys'][number]]));
        before = compiledFrom({ ...base, keys: list }, { before });
        expect(tableOf(before)).toEqual(tableOf(compiledFrom({ ...base, keys: structuredClone(list) })));
      }
    }),
  );
});

test('of very many keys those that have not changed are found in the same place', () => {
  const many = Array.from({ length: 1_000 }, (_, index) =>
    keySchema.parse({ id: `k${index}`, group: index % 2 === 0 ? 'blue' : 'green', hash: hashOf(`${index}`) }),
  );
  const before = compiledFrom({ ...base, keys: many });
  const settings = { ...base.settings, replyHeaders: false };
  const same = compiledFrom({ ...base, settings, keys: many }, { before });
  expect(same.keys).toBe(before.keys);
  expect(same.settings).toEqual(settings);
  const without = compiledFrom({ ...base, keys: many.slice(0, -1) }, { before });
  expect([
    without.keys.size,
    [...without.keys.values()].filter((key) => [...before.keys.values()].includes(key)).length,
  ]).toEqual([999, 999]);
});
