/**
 * Checks docs/dialects.md; `npx vitest run test/server/apis/translation/dialect-table.test.ts -u` regenerates it. Fails if
 * something is neither carried nor reported as a loss.
 */
import { describe, expect, test } from 'vitest';
import { cellOf, each, hello } from './dialect-table/notation.ts';
import { apis, clients, clientWires, lines, pageOf, preface, upstreams } from './dialect-table/table.ts';

const pairs = clientWires.flatMap((client) =>
  upstreams.map((upstream) => ({ client, upstream, from: clients[client], to: apis[upstream.wire], ...upstream })),
);

describe.each(pairs)('between a client of $from and $to with $model', ({ client, upstream }) => {
  test.each(lines)('nothing is lost in silence: $name', ({ cellFor }) => {
    const { word, defects } = cellFor(client, upstream);
    expect(defects).toEqual([]);
    expect(word).not.toBe('lost');
  });
});

describe('a cell', () => {
  const chat = upstreams[0];
  const row = (fragment: string, mark?: string) => ({
    name: 'text',
    cases: [each((wire) => ({ asks: hello[wire], gets: [{ content: fragment }] }))],
    ...(mark === undefined ? {} : { mark }),
  });

  test('reports what did not arrive and was not reported as a loss', () => {
    if (!chat) throw new Error('There is no upstream.');
    expect(cellOf(row('Hello'), 'anthropic-messages', chat)).toMatchObject({ word: 'carried', defects: [] });
    const lost = cellOf(row('Goodbye'), 'anthropic-messages', chat);
    expect(lost).toMatchObject({ word: 'lost', defects: [expect.stringContaining('Goodbye')] });
    expect(cellOf(row('Hello', 'Goodbye'), 'anthropic-messages', chat).defects).toEqual(['Goodbye is missing']);
  });
});

test('docs/dialects.md matches the observations', async () => {
  await expect(pageOf(preface)).toMatchFileSnapshot('../../../../docs/dialects.md');
});
