import { expect, test } from 'vitest';
import { FairQueue, type Owner } from '../../../server/http/admission.ts';

interface Item {
  owner: Owner;
  name: string;
}

const item = (group: string, key: string, name = `${group}/${key}`): Item => ({ owner: { group, key }, name });
const anyone = () => true;

function queueOf(...items: Item[]): FairQueue<Item> {
  const queue = new FairQueue<Item>();
  for (const each of items) queue.add(each);
  return queue;
}

function takeAll(queue: FairQueue<Item>): string[] {
  const names: string[] = [];
  for (let next = queue.take(anyone); next; next = queue.take(anyone)) names.push(next.name);
  return names;
}

test('groups take turns, and in a group its keys; of one key the first to come goes first', () => {
  const queue = queueOf(
    item('a', '1', 'a1 first'),
    item('a', '1', 'a1 second'),
    item('a', '1', 'a1 third'),
    item('a', '2', 'a2 first'),
    item('b', '3', 'b first'),
    item('b', '3', 'b second'),
  );
  expect(takeAll(queue)).toEqual(['a1 first', 'b first', 'a2 first', 'b second', 'a1 second', 'a1 third']);
  expect(queue.size).toBe(0);
});

test('a group that may not run is skipped and keeps its turn', () => {
  const queue = queueOf(item('a', '1'), item('b', '2'));
  expect(queue.take(({ owner }) => owner.group !== 'a')?.name).toBe('b/2');
  expect(queue.take(({ owner }) => owner.group !== 'a')).toBeUndefined();
  expect(queue.take(anyone)?.name).toBe('a/1');
});

test('a key that may not run keeps its turn, and another key of its group runs', () => {
  const queue = queueOf(item('a', '1'), item('a', '2'));
  expect(queue.take(({ owner }) => owner.key !== '1')?.name).toBe('a/2');
  expect(queue.take(anyone)?.name).toBe('a/1');
});

test('a request that leaves the queue is not started any more', () => {
  const leaving = item('a', '1', 'leaving');
  const queue = queueOf(item('a', '1', 'first'), leaving, item('a', '1', 'last'));
  queue.remove(leaving);
  queue.remove(leaving);
  expect(queue.size).toBe(2);
  expect(takeAll(queue)).toEqual(['first', 'last']);
});

test('in a full line the last of the longest lane makes room for one who has fewer', () => {
  const queue = queueOf(item('a', '1'), item('a', '2'), item('a', '2', 'last of the longest'));
  for (const key of ['3', '4']) queue.add(item('b', key));
  expect(queue.displacedBy({ group: 'c', key: '9' })?.name).toBe('last of the longest');
  expect(queue.displacedBy({ group: 'b', key: '3' })).toBeUndefined();
  expect(queue.displacedBy({ group: 'a', key: '2' })).toBeUndefined();
  expect(queue.displacedBy({ group: 'a', key: '9' })?.name).toBe('last of the longest');
  expect(queueOf().displacedBy({ group: 'a', key: '1' })).toBeUndefined();
});
