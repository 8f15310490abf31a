import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { tries } from '../../support/sweep.ts';
import { asking, hashOf, none, type Parts, provider } from './asking-for-models.ts';

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

describe('for any configuration', () => {
  const ids = ['p1', 'p2', 'p3'];
  const names = ['a', 'b', 'ab', 'a/b', 'p1/a', 'fast'];
  const patterns = fc.array(fc.constantFrom(...names, '*', 'a*', '*b', 'p1/*', '*a*'), { maxLength: 3 });
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
    aliases: fc.uniqueArray(
      fc.record({
        name: fc.constantFrom(...names),
        targets: fc.array(fc.record({ provider: fc.constantFrom(...ids), model: fc.constantFrom(...names) }), {
          minLength: 1,
          maxLength: 2,
        }),
      }),
      { selector: ({ name }) => name, maxLength: 2 },
    ),
    group: fc.record({
      id: fc.constant('g'),
      models: fc.oneof(fc.constant<string[]>(['*']), patterns),
      deny: fc.oneof(fc.constant<string[]>([]), patterns),
      providers: fc.oneof(fc.constant<string[]>(['*']), fc.subarray(ids)),
    }),
    keyModels: fc.option(patterns, { nil: undefined }),
  });

  const build = ({ providers, aliases, group, keyModels }: typeof config extends fc.Arbitrary<infer T> ? T : never) =>
    asking({
      providers,
      aliases,
      groups: [group],
      keys: [{ id: 'k', group: 'g', hash: hashOf('k'), ...(keyModels && { models: keyModels }) }],
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
