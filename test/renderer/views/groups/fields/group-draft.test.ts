import { describe, expect, it } from 'vitest';
import { moveItem } from '../../../../../renderer/components/lists/move-item.ts';
import {
  changesOf,
  differenceOf,
  draftOf,
  groupOf,
  inOrder,
  orderOf,
  passthroughChoices,
  phases,
  strategyOrder,
  usualPolicy,
} from '../../../../../renderer/views/groups/fields/group-draft.ts';
import { groupSchema } from '../../../../../server/contract/config.ts';
import { policySchema, timeoutsSchema } from '../../../../../server/contract/policy.ts';

const group = groupSchema.parse({ id: 'g', name: 'G', defaults: { chat: 'gpt-x' }, deny: ['a'], capture: true });

describe('a group as it is typed', () => {
  it('gives back what it was made of, but for what the drawer “Testing” sets', () => {
    const given = { ...group, passthrough: 'main', limits: undefined };
    const { cache: _, cassette: __, ...edited } = given;
    expect(groupOf(draftOf({ ...given, keyCount: 3, limitUse: [] }))).toEqual(edited);
  });

  it.each([
    ['default', undefined, ['', null, 'a', 'b'], {}],
    ['default', null, ['', null, 'a', 'b'], { passthrough: null }],
    ['default', 'b', ['', null, 'a', 'b'], { passthrough: 'b' }],
    ['other', undefined, [null, 'a', 'b'], { passthrough: null }],
    ['other', 'gone', [null, 'a', 'b', 'gone'], { passthrough: 'gone' }],
  ])('of %s, whose rest goes to %s, has that among the choices', (id, passthrough, choices, written) => {
    const draft = draftOf({ ...group, id, passthrough, keyCount: 0, limitUse: [] });
    expect(passthroughChoices(draft, ['a', 'b'])).toEqual(choices);
    const { passthrough: kept } = groupOf(draft);
    expect({ ...(kept !== undefined && { passthrough: kept }) }).toEqual(written);
  });

  it('has no name and no defaults where nothing but blanks were typed', () => {
    const draft = {
      ...draftOf({ ...group, keyCount: 0, limitUse: [] }),
      name: ' ',
      defaults: { chat: ' ', images: 'i' },
    };
    expect(groupOf(draft)).toEqual({ ...groupOf(draft), defaults: { images: 'i' } });
    expect(groupOf(draft)).not.toHaveProperty('name');
  });
});

describe('the order of providers', () => {
  const order = [
    { provider: 'c', priority: 0, weight: 2 },
    { provider: 'gone', priority: 1, weight: 1 },
  ];

  it('has those with a place first and the others as they came', () => {
    expect(inOrder(['a', 'b', 'c'], order)).toEqual(['c', 'a', 'b']);
  });

  it('keeps a weight when everyone gets a place', () => {
    expect(orderOf(['a', 'c'], order)).toEqual([
      { provider: 'a', priority: 0, weight: 1 },
      { provider: 'c', priority: 1, weight: 2 },
    ]);
  });

  it.each([
    [0, 2, ['b', 'c', 'a']],
    [2, 0, ['c', 'a', 'b']],
    [1, 1, ['a', 'b', 'c']],
  ])('is another one when place %i moves to place %i', (from, to, expected) => {
    expect(moveItem(['a', 'b', 'c'], from, to)).toEqual(expected);
  });
});

describe('what saving would change', () => {
  const models = (...ids: string[]) => ids.map((id) => ({ id, ownedBy: 'x', providers: [] }));

  it('is what comes and what goes', () => {
    const difference = differenceOf(models('a', 'b'), models('b', 'c'));
    expect([[...difference.gained], difference.lost]).toEqual([['c'], ['a']]);
  });

  it('is nothing while one side is not known', () => {
    expect(differenceOf(null, models('a'))).toEqual({ gained: new Set(), lost: [] });
  });
});

it('what the window takes for usual is what the configuration does', () => {
  expect(policySchema.parse({})).toMatchObject(usualPolicy);
  expect(strategyOrder.toSorted()).toEqual(policySchema.shape.strategy.unwrap().options.toSorted());
  expect([...phases]).toEqual(Object.keys(timeoutsSchema.shape));
});

it('counts what differs from the usual policy, each timeout by itself', () => {
  expect(changesOf(policySchema.parse({}))).toEqual({ total: 0, further: 0 });
  const changed = { retries: 1, losses: 'refuse', timeouts: { idleMs: 1, totalMs: 2 } };
  expect(changesOf(policySchema.parse(changed))).toEqual({ total: 4, further: 3 });
});
