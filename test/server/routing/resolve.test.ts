import { describe, expect, test } from 'vitest';
import { asking, hashOf, none, provider } from '../../support/providers.ts';

describe('a plain model name', () => {
  test('goes to all who serve it, in the order of the configuration', () => {
    const { call } = asking({ providers: [provider('b', ['m']), provider('a', ['m', 'n'])] });
    expect(call('m')).toEqual(['b:m', 'a:m']);
    expect(call('n')).toEqual(['a:n']);
    expect(call('x')).toBe(none);
  });

  test('goes in the order of the group first', () => {
    const order = [
      { provider: 'c', priority: 0 },
      { provider: 'b', priority: 1 },
    ];
    const { call } = asking({
      providers: ['a', 'b', 'c', 'd'].map((id) => provider(id, ['m'])),
      groups: [{ id: 'g', order }],
    });
    expect(call('m')).toEqual(['c:m', 'b:m', 'a:m', 'd:m']);
  });

  test('goes to those known to serve it before those that take any name', () => {
    const { call, list } = asking({ providers: [provider('any', ['*']), provider('a', ['m'])] });
    expect(call('m')).toEqual(['a:m', 'any:m']);
    expect(call('x')).toEqual(['any:x']);
    expect(list()).toEqual(['m']);
  });

  test('goes to those known to serve it first, whatever the order of the group says of those that take any name', () => {
    const order = [{ provider: 'any', priority: 0 }];
    const { call } = asking({
      providers: [provider('any', ['*']), provider('a', ['m'])],
      groups: [{ id: 'g', order }],
    });
    expect(call('m')).toEqual(['a:m', 'any:m']);
  });

  test('is unknown to a provider whose models could not be learnt, which serves `provider/model` alone', () => {
    const { call, refusal, callDefault } = asking({ providers: [provider('d', 'discover')] }, 'k', { d: [] });
    expect([call('m'), call('d/m'), callDefault('chat')]).toEqual([none, ['d:m'], ['d:null']]);
    expect(refusal('m')).not.toContain('"d"');
    const limited = asking({ providers: [provider('d', 'discover')], groups: [{ id: 'g', models: ['x*'] }] }, 'k', {
      d: [],
    });
    expect(limited.refusal('m')).not.toContain('"d"');
  });

  test('is in no route of a provider that is off, and is `no_healthy_provider` where only that one has it', () => {
    const { call, list, refusal } = asking({
      providers: [provider('off', ['m', 'n'], { enabled: false }), provider('a', ['m'])],
    });
    expect(call('m')).toEqual(['a:m']);
    expect(list()).toEqual(['m']);
    expect(call('n')).toBe('no_healthy_provider');
    expect(refusal('n')).toBe('No provider can serve "n" now: provider "off": it is switched off.');
  });

  test('that is unknown is refused with the nearest that is allowed', () => {
    const { refusal } = asking({
      providers: [provider('a', ['gpt-x', 'gpt-secret'])],
      groups: [{ id: 'g', deny: ['gpt-secret'] }],
    });
    expect(refusal('gpt-y')).toBe('The model "gpt-y" does not exist or this key may not use it. Did you mean "gpt-x"?');
    expect(refusal('gpt-secret')).not.toContain('Did you mean "gpt-secret"');
    expect(refusal('x'.repeat(1_000)).length).toBeLessThan(300);
    expect(refusal('demo-chat')).toMatch(
      /may not use it\. The demo is there until the first provider is added; "sluice demo on"/,
    );
  });
});

describe('`provider/model`', () => {
  const providers = [
    provider('a', ['m']),
    provider('b', ['m']),
    provider('any', ['*']),
    provider('off', ['m'], { enabled: false }),
  ];

  test('goes to that provider alone', () => {
    const { call } = asking({ providers });
    expect(call('b/m')).toEqual(['b:m']);
    expect(call('any/x/y')).toEqual(['any:x/y']);
    expect(call('off/m')).toBe('no_healthy_provider');
  });

  test('is a plain name where no provider has that id, or that provider does not serve it', () => {
    expect(asking({ providers }).call('zzz/m')).toEqual(['any:zzz/m']);
    expect(asking({ providers: [provider('a', ['m'])] }).call('a/x')).toBe(none);
    expect(asking({ providers: [provider('a', ['m'])] }).call('a/')).toBe(none);
    expect(asking({ providers: [provider('a', ['m'])] }).call('/m')).toBe(none);
  });

  test('may name what discovery has not found', () => {
    const found = { d: ['m'] };
    const off = { enabled: false };
    const some = [provider('d', 'discover'), provider('any', ['*'])];
    const { call } = asking({ providers: some }, 'k', found);
    expect([call('d/m'), call('d/new'), call('new')]).toEqual([['d:m'], ['d:new'], ['any:new']]);
    const groups = [{ id: 'g', models: ['m', 'd/n*'], deny: ['d/none'] }];
    const limited = asking({ providers: some, groups }, 'k', found);
    expect([limited.call('d/new'), limited.call('d/other'), limited.call('d/none')]).toEqual([['d:new'], none, none]);
    const away = asking({ providers: [provider('d', 'discover', off)] }, 'k', found);
    expect(away.refusal('d/new')).toContain('provider "d": it is switched off');
  });

  test('gives way to a model with exactly that name', () => {
    const { call } = asking({ providers: [provider('a', ['m']), provider('router', ['a/m'])] });
    expect(call('a/m')).toEqual(['router:a/m']);
  });

  test('is allowed and refused under either name', () => {
    const only = asking({ providers, groups: [{ id: 'g', models: ['m'] }] });
    expect([only.call('a/m'), only.call('any/x')]).toEqual([['a:m'], none]);
    const prefixed = asking({ providers, groups: [{ id: 'g', models: ['a/*'] }] });
    expect([prefixed.call('a/m'), prefixed.call('m'), prefixed.call('b/m')]).toEqual([['a:m'], none, none]);
    const denied = asking({ providers, groups: [{ id: 'g', deny: ['m'] }] });
    expect([denied.call('a/m'), denied.call('any/m'), denied.call('any/x')]).toEqual([none, none, ['any:x']]);
    const deniedThere = asking({ providers, groups: [{ id: 'g', deny: ['b/*'] }] });
    expect([deniedThere.call('b/m'), deniedThere.call('a/m')]).toEqual([none, ['a:m']]);
  });

  test.each<[string, { group?: string[]; deny?: string[]; key?: string[] }, string[]]>([
    ['of the key', { key: ['a/*'] }, ['a/m', 'a/n']],
    ['of the key, of two providers', { key: ['b/m', 'a/n'] }, ['a/n', 'b/m']],
    ['of the key, among plain names', { key: ['n', 'b/*'] }, ['b/m', 'n']],
    ['of the group', { group: ['a/*'] }, ['a/m', 'a/n']],
    ['of the group, narrowed by the key', { group: ['a/*'], key: ['m'] }, ['a/m']],
    ['of the group, without what is banned', { group: ['a/*'], deny: ['a/n'] }, ['a/m']],
    ['of a provider that is off', { key: ['off/*'] }, []],
    ['beside the plain name, which is enough', { key: ['m', 'a/*'] }, ['a/n', 'm']],
    ['that says nothing', {}, ['m', 'n']],
  ])('is listed, and only so, by the only form that models of a rule may be used in: %s', (_rule, rules, listed) => {
    const asked = asking({
      providers: [provider('a', ['m', 'n']), provider('b', ['m']), provider('off', ['m'], { enabled: false })],
      groups: [{ id: 'g', models: rules.group ?? ['*'], deny: rules.deny ?? [] }],
      keys: [{ id: 'k', group: 'g', hash: hashOf('k'), ...(rules.key && { models: rules.key }) }],
    });
    expect(asked.list()).toEqual(listed);
    for (const name of listed) {
      expect(asked.call(name)).not.toBe(none);
      expect(asked.retrieve(name)).toMatchObject([{ id: name }]);
    }
  });

  test('does not reach a provider that the group may not use', () => {
    const { call } = asking({
      providers: [provider('a', ['m']), provider('b', ['m'])],
      groups: [{ id: 'g', providers: ['a'] }],
    });
    expect([call('b/m'), call('m')]).toEqual([none, ['a:m']]);
  });
});

describe('an alias', () => {
  const targets = [
    { provider: 'b', model: 'big', priority: 1 },
    { provider: 'a', model: 'small', priority: 0 },
  ];

  test('goes to its targets by priority, under their own names', () => {
    const { call, list } = asking({
      providers: [provider('a', ['small']), provider('b', ['big'])],
      aliases: [{ name: 'fast', targets }],
    });
    expect(call('fast')).toEqual(['a:small', 'b:big']);
    expect(list()).toEqual(['big', 'fast', 'small']);
  });

  test('takes precedence over a model of the same name', () => {
    const { call } = asking({
      providers: [provider('a', ['fast']), provider('b', ['big'])],
      aliases: [{ name: 'fast', targets }],
    });
    expect(call('fast')).toEqual(['a:small', 'b:big']);
  });

  test('goes past providers that are off or not the group’s', () => {
    const providers = [provider('a', [], { enabled: false }), provider('b', [])];
    expect(asking({ providers, aliases: [{ name: 'fast', targets }] }).call('fast')).toEqual(['b:big']);
    const groups = [{ id: 'g', providers: ['b'] }];
    expect(asking({ providers, groups, aliases: [{ name: 'fast', targets }] }).call('fast')).toEqual(['b:big']);
  });

  test('whose providers are all off says so, and goes to no other that takes any name', () => {
    const off = { enabled: false };
    const { call, list, refusal } = asking({
      providers: [provider('a', [], off), provider('b', [], off), provider('any', ['*']), provider('named', ['fast'])],
      aliases: [{ name: 'fast', targets }],
    });
    expect(call('fast')).toBe('no_healthy_provider');
    expect(refusal('fast')).toContain('provider "a": it is switched off; provider "b": it is switched off');
    expect(list()).not.toContain('fast');
  });

  test('whose providers are none of the group’s does not exist there', () => {
    const providers = [provider('a', []), provider('b', []), provider('c', ['m'])];
    const { call, list } = asking({
      providers,
      groups: [{ id: 'g', providers: ['c'] }],
      aliases: [{ name: 'fast', targets }],
    });
    expect(call('fast')).toBe(none);
    expect(list()).toEqual(['m']);
  });
});

describe('a request without a model', () => {
  test('takes the group’s default for the capability', () => {
    const { callDefault } = asking({
      providers: [provider('a', ['v', 'w']), provider('b', ['v'])],
      groups: [{ id: 'g', defaults: { videos: 'v', images: 'gone' } }],
    });
    expect(callDefault('videos')).toEqual(['a:v', 'b:v']);
    expect(callDefault('images')).toBe(none);
    expect(callDefault('moderations')).toBe('model_missing');
  });

  test('takes the only provider that can be used', () => {
    const { callDefault } = asking({ providers: [provider('a', ['v']), provider('off', ['v'], { enabled: false })] });
    expect(callDefault('videos')).toEqual(['a:null']);
  });

  test('does not let the provider choose for a group or key that may not use every model', () => {
    const providers = [provider('a', ['v', 'w'])];
    expect(asking({ providers, groups: [{ id: 'g', models: ['v'] }] }).callDefault('videos')).toBe('model_missing');
    expect(asking({ providers, groups: [{ id: 'g', deny: ['v'] }] }).callDefault('videos')).toBe('model_missing');
    const keys = [{ id: 'k', group: 'g', hash: hashOf('k'), models: ['v'] }];
    expect(asking({ providers, keys }).callDefault('videos')).toBe('model_missing');
  });

  test('gets an error that says why it must name one', () => {
    const providers = [provider('a', ['v', 'w'])];
    const groups = [{ id: 'g', models: ['v'] }];
    const advice = 'are limited, so name one or set a default for videos in the group.';
    expect(asking({ providers, groups }).defaultRefusal('videos')).toContain(`the models of group "g" ${advice}`);
    const keys = [{ id: 'k', group: 'g', hash: hashOf('k'), models: ['v'] }];
    expect(asking({ providers, keys }).defaultRefusal('videos')).toContain(`the models of this key ${advice}`);
    const two = asking({ providers: [...providers, provider('b', ['v'])] });
    expect(two.defaultRefusal('videos')).toContain('group "g" has no default model for videos, and more than one');
  });

  test('fails where there is no provider', () => {
    expect(asking({ providers: [] }).callDefault('videos')).toBe('no_healthy_provider');
  });
});

describe('retrieving a model', () => {
  test.each(['.', '..'])('finds none that is a step in a path, where a provider takes any name: %s', (model) => {
    const any = asking({ providers: [{ id: 'p', baseUrl: 'https://p.example/v1', models: ['*'] }] });
    expect([any.retrieve(model), any.call(model)]).toEqual(['model_not_found', 'model_not_found']);
    expect(any.call('...')).toEqual(['p:...']);
  });

  test('answers with what is listed, and for other names that would be served with the provider', () => {
    const { retrieve } = asking({
      providers: [provider('a', ['m', '*'])],
      aliases: [{ name: 'fast', targets: [{ provider: 'a', model: 'm' }] }],
    });
    expect(retrieve('m')).toEqual([{ id: 'm', created: 0, ownedBy: 'a' }]);
    expect(retrieve('fast')).toEqual([{ id: 'fast', created: 0, ownedBy: 'sluice' }]);
    expect(retrieve('a/x')).toEqual([{ id: 'a/x', created: 0, ownedBy: 'a' }]);
  });
});
