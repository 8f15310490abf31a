import { expect, test, vi } from 'vitest';
import type { RequestFacts } from '../../../../server/exchange/readers/response-reader.ts';
import { WholeReader } from '../../../../server/exchange/readers/whole-reader.ts';
import { findRoute } from '../../../support/routes.ts';

const asked: RequestFacts = {
  route: findRoute('POST', '/embeddings').route,
  method: 'POST',
  isStreamAsked: false,
  isTextAsked: false,
  isTranslated: false,
  isKept: false,
};
const head = { status: 200, headers: { 'content-type': 'application/json' } };

test('a long response is looked at once while it comes, and no further than its first MiB', () => {
  const concat = vi.spyOn(Buffer, 'concat');
  const reader = new WholeReader(asked, head);
  reader.read(Buffer.from('{"data":[{"embedding":[0.1'));
  const piece = Buffer.from(',0.25'.repeat(12_000));
  for (let bytes = 0; bytes < 9 * 1024 * 1024; bytes += piece.length) reader.read(piece);
  const lengths = concat.mock.results.map(({ value }) => (value as Buffer).length);
  concat.mockRestore();
  expect(lengths).toEqual([1024 * 1024]);
});
