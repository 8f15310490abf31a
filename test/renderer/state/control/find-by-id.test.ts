import { expect, it } from 'vitest';
import { createFindById } from '../../../../renderer/state/control/find-by-id.ts';
import { maxReported } from '../../../../server/contract/find.ts';

/** Knows every id but `gone`. */
function finder() {
  const asked: { type: string; ids: readonly string[] }[] = [];
  const findById = createFindById((async ({ type, ids }: { type: string; ids: string[] }) => {
    asked.push({ type, ids });
    return { found: ids.filter((id) => id !== 'gone').map((id) => ({ id })), total: ids.length };
  }) as unknown as Parameters<typeof createFindById>[0]);
  return { asked, findById };
}

it('asks once for all that is asked for in the same turn, and again later', async () => {
  const { asked, findById } = finder();
  const views = await Promise.all([findById('key', 'k1'), findById('key', 'k2'), findById('key', 'k1')]);
  expect(views.map((view) => view?.id)).toEqual(['k1', 'k2', 'k1']);
  await findById('key', 'k1');
  expect(asked).toEqual([
    { type: 'find-keys', ids: ['k1', 'k2'] },
    { type: 'find-keys', ids: ['k1'] },
  ]);
});

it('asks for keys and groups apart, and says what is not there', async () => {
  const { asked, findById } = finder();
  const [key, group] = await Promise.all([findById('key', 'gone'), findById('group', 'g1')]);
  expect([key, group]).toEqual([null, { id: 'g1' }]);
  expect(asked.map(({ type }) => type).toSorted()).toEqual(['find-groups', 'find-keys']);
});

it('asks for no more at once than is answered', async () => {
  const { asked, findById } = finder();
  const ids = Array.from({ length: maxReported + 1 }, (_, index) => `k${index}`);
  const views = await Promise.all(ids.map((id) => findById('key', id)));
  expect(views.map((view) => view?.id)).toEqual(ids);
  expect(asked.map((question) => question.ids.length)).toEqual([maxReported, 1]);
});
