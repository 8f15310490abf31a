import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { matchesAny } from '../../../server/routing/compile-keys.ts';
import { asking, hashOf, none, type Parts, provider, snapshotOf } from '../../support/providers.ts';
import { tries } from '../../support/sweep.ts';

describe('key → group → model', () => {
  const config: Parts = {
    providers: [provider('east', ['gpt-x', 'gpt-y', 'claude']), provider('west', ['gpt-x', 'claude', 'llama'])],
    aliases: [{ name: 'fast', targets: [{ provider: 'east', model: 'gpt-y' }] }],
    groups: [
      { id: 'all' },
      { id: 'gpt', models: ['gpt-*'] },
      { id: 'no-gpt', deny: ['gpt-*'] },
      { id: 'west', providers: ['west'] },
      { id: 'none', models: ['nothing'] },
    ],
    keys: [
      ...['all', 'gpt', 'no-gpt', 'west', 'none'].map((group) => ({ id: group, group, hash: hashOf(group) })),
      { id: 'all-narrow', group: 'all', hash: hashOf('1'), models: ['claude', 'fast'] },
      { id: 'gpt-wide', group: 'gpt', hash: hashOf('2'), models: ['*'] },
      { id: 'gpt-other', group: 'gpt', hash: hashOf('3'), models: ['claude'] },
      { id: 'nobody', group: 'all', hash: hashOf('4'), models: [] },
    ],
  };
  const names = ['claude', 'fast', 'gpt-x', 'gpt-y', 'llama'];

  test.each<[string, string[]]>([
    ['all', names],
    ['gpt', ['gpt-x', 'gpt-y']],
    // The alias `fast` means a model that is banned.
    ['no-gpt', ['claude', 'llama']],
    ['west', ['claude', 'gpt-x', 'llama']],
    ['none', []],
    ['all-narrow', ['claude', 'fast']],
    ['gpt-wide', ['gpt-x', 'gpt-y']],
    ['gpt-other', []],
    ['nobody', []],
  ])('key "%s" lists, retrieves and calls %j and no more', (keyId, allowed) => {
    const { list, call, retrieve } = asking(config, keyId);
    expect(list()).toEqual(allowed);
    for (const name of names) {
      const may = allowed.includes(name);
      expect(call(name) !== none).toBe(may);
      expect(retrieve(name) !== none).toBe(may);
    }
  });

  test('a group of one provider never reaches another, by any name', () => {
    const { call } = asking(config, 'west');
    for (const name of [...names, ...names.map((each) => `east/${each}`), ...names.map((each) => `west/${each}`)]) {
      const targets = call(name);
      if (typeof targets !== 'string') for (const target of targets) expect(target).toMatch(/^west:/);
    }
  });
});

describe('aliases of a key alone', () => {
  const to = (...targets: string[]) =>
    targets.map((target) => ({ provider: target.split('/')[0] ?? '', model: target.split('/')[1] ?? '' }));
  const config: Parts = {
    providers: [provider('east', ['gpt-x', 'gpt-y', 'claude']), provider('west', ['gpt-x', 'llama'])],
    aliases: [
      { name: 'fast', targets: to('east/gpt-y') },
      { name: 'dear', targets: to('east/claude') },
    ],
    groups: [
      { id: 'all' },
      { id: 'names', models: ['fast', 'gpt-*'] },
      { id: 'no-claude', deny: ['claude'] },
      { id: 'west', providers: ['west'] },
    ],
    keys: [
      ['plain', 'all', undefined, undefined],
      ['own', 'all', to('west/llama', 'east/gpt-x'), undefined],
      // Only models that the group or the key may name, and the targets of the alias for all.
      ['named', 'names', to('west/llama', 'east/claude', 'west/gpt-x', 'east/gpt-y'), undefined],
      ['narrow', 'all', to('west/llama', 'east/gpt-y'), ['fast', 'claude']],
      ['denied', 'no-claude', to('east/claude'), undefined],
      ['elsewhere', 'west', to('east/gpt-x', 'west/gpt-x'), undefined],
    ].map(([id, group, targets, models]) => ({
      ...{ id: `${id}`, group: `${group}`, hash: hashOf(`${id}`) },
      ...(Array.isArray(targets) && { aliases: [{ name: 'fast', targets }] }),
      ...(Array.isArray(models) && { models }),
    })) as Parts['keys'],
  };

  test.each<[string, string[] | string]>([
    ['plain', ['east:gpt-y']],
    ['own', ['west:llama', 'east:gpt-x']],
    ['named', ['west:gpt-x', 'east:gpt-y']],
    ['narrow', ['east:gpt-y']],
    ['denied', none],
    ['elsewhere', ['west:gpt-x']],
  ])('of key "%s" lead to %j and no further', (keyId, targets) => {
    const { call, list } = asking(config, keyId);
    expect(call('fast')).toEqual(targets);
    expect(list().includes('fast')).toBe(targets !== none);
  });

  test('stand beside those for all, and concern no other name', () => {
    expect(asking(config, 'own').call('dear')).toEqual(['east:claude']);
    expect(asking(config, 'own').list()).toEqual(asking(config, 'plain').list());
  });

  test('are compiled once, and a key without any uses its group as it is', () => {
    const snapshot = snapshotOf({ groups: [{ id: 'g' }], ...config });
    const keys = new Map([...snapshot.keys.values()].map((key) => [key.id, key]));
    const groupOf = (id: string) => {
      const key = keys.get(id);
      return key && snapshot.groupOf(key);
    };
    expect(groupOf('plain')).toBe(snapshot.group('all'));
    expect(groupOf('own')).toBe(groupOf('own'));
    expect(groupOf('own')).not.toBe(snapshot.group('all'));
    expect(groupOf('own')?.routes.get('claude')).toBeDefined();
  });
});

describe('for any configuration', () => {
  const ids = ['p1', 'p2', 'p3'];
  const names = ['a', 'b', 'ab', 'a/b', 'p1/a', 'fast'];
  const patterns = fc.array(fc.constantFrom(...names, '*', 'a*', '*b', 'p1/*', '*a*'), { maxLength: 3 });
  const aliases = fc.uniqueArray(
    fc.record({
      name: fc.constantFrom(...names),
      targets: fc.array(fc.record({ provider: fc.constantFrom(...ids), model: fc.constantFrom(...names) }), {
        minLength: 1,
        maxLength: 2,
      }),
    }),
    { selector: ({ name }) => name, maxLength: 2 },
  );
  const config = fc.record({
    providers: fc.tuple(
      ...ids.map((id) =>
        fc.record({
          id: fc.constant(id),
          baseUrl: fc.constant(`https://${id}.example/v1`),
          enabled: fc.boolean(),
          models: fc.uniqueArray(fc.constantFrom(...names), { maxLength: 4 }),
        }),
      ),
    ),
    aliases,
    ownAliases: aliases,
    group: fc.record({
      id: fc.constant('g'),
      models: fc.oneof(fc.constant<string[]>(['*']), patterns),
      deny: fc.oneof(fc.constant<string[]>([]), patterns),
      providers: fc.oneof(fc.constant<string[]>(['*']), fc.subarray(ids)),
    }),
    keyModels: fc.option(patterns, { nil: undefined }),
  });

  type Made = typeof config extends fc.Arbitrary<infer T> ? T : never;
  const build = ({ providers, aliases: shared, ownAliases, group, keyModels }: Made) =>
    asking({
      providers,
      aliases: shared,
      groups: [group],
      keys: [
        {
          ...{ id: 'k', group: 'g', hash: hashOf('k'), aliases: ownAliases },
          ...(keyModels && { models: keyModels }),
        },
      ],
    });

  test('an alias of a key leads only to what the key may name, or to where the alias for all leads', () => {
    fc.assert(
      fc.property(config, (made) => {
        const { call } = build(made);
        const lists = [made.group.models, made.keyModels ?? ['*']].map(matchesAny);
        for (const { name } of made.ownAliases) {
          const targets = call(name);
          if (typeof targets === 'string') continue;
          const shared = made.aliases.find((alias) => alias.name === name)?.targets ?? [];
          for (const target of targets) {
            const [provider = '', model = ''] = target.split(':');
            const mayName = lists.every((allows) => allows(model) || allows(`${provider}/${model}`));
            expect(mayName || shared.some((each) => each.provider === provider && each.model === model)).toBe(true);
            expect(made.group.deny).not.toContain(model);
          }
        }
      }),
      { numRuns: tries(5_000) },
    );
  });

  test('a key lists exactly the plain names that it may call', () => {
    fc.assert(
      fc.property(config, (made) => {
        const { list, call, retrieve } = build(made);
        const listed = list();
        for (const name of listed) {
          expect(call(name)).toBeInstanceOf(Array);
          expect(retrieve(name)).toMatchObject([{ id: name }]);
        }
        const addressed = new Set(ids.flatMap((id) => names.map((name) => `${id}/${name}`)));
        for (const name of names) {
          if (!listed.includes(name) && !addressed.has(name)) expect(call(name)).toBeTypeOf('string');
        }
        expect(listed).toEqual([...new Set(listed)].sort());
      }),
      { numRuns: tries(5_000) },
    );
  });

  test('no name at all leads to a provider that is off or not the group’s, nor past what is denied', () => {
    fc.assert(
      fc.property(config, (made) => {
        const { call } = build(made);
        const open = made.providers
          .filter(
            ({ id, enabled }) => enabled && (made.group.providers.includes('*') || made.group.providers.includes(id)),
          )
          .map(({ id }) => id);
        for (const name of [...names, ...ids.flatMap((id) => names.map((each) => `${id}/${each}`))]) {
          const targets = call(name);
          if (typeof targets === 'string') continue;
          for (const target of targets) expect(open).toContain(target.split(':')[0]);
          expect(made.group.deny).not.toContain(name);
        }
      }),
      { numRuns: tries(5_000) },
    );
  });
});
