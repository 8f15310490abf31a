import { expect, test } from 'vitest';
import { Slots } from '../../../server/ground/collections.ts';

const membersOf = (slots: Slots<string>) => {
  const members: string[] = [];
  slots.forEach((member) => {
    members.push(member);
  });
  return members;
};

test('has who was added and not deleted, and gives a free place to the next', () => {
  const slots = new Slots<string>();
  const first = slots.add('a');
  slots.add('b');
  slots.delete(first);
  expect(slots.add('c')).toBe(first);
  expect(membersOf(slots)).toEqual(['c', 'b']);
  expect(slots.size).toBe(2);
});

test('is empty once all were deleted', () => {
  const slots = new Slots<string>();
  for (const slot of [slots.add('a'), slots.add('b')]) slots.delete(slot);
  expect(slots.size).toBe(0);
  expect(membersOf(slots)).toEqual([]);
});

test('lets members be deleted while it is gone through', () => {
  const slots = new Slots<string>();
  const places = new Map(['a', 'b'].map((name) => [name, slots.add(name)]));
  slots.forEach((member) => {
    slots.delete(places.get(member) ?? -1);
  });
  expect(slots.size).toBe(0);
});
