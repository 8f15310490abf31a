import { expect, test, vi } from 'vitest';
import type { ReplyHost } from '../../../../server/exchange/readers/response-reader.ts';
import { WholeReply } from '../../../../server/exchange/readers/whole-reader.ts';
import { findRoute } from '../../../../server/wire/routes.ts';

/** An attempt that nobody disputes. */
const host = (): ReplyHost => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  route: findRoute('POST', '/embeddings').route,
  method: 'POST',
  isStreamAsked: false,
  isTextAsked: false,
  isOver: false,
  hasBegun: false,
  begin: () => true,
  hold: () => true,
  awaitContent() {},
  contentCame() {},
  progressed() {},
  passAsStream: () => false,
  readAsStream() {},
  callJson() {},
  write() {},
  complete() {},
  completeWithError() {},
  refuse() {},
  damaged() {},
  failTransport() {},
  breakOff() {},
});

test('a long reply is looked at once while it comes, and no further than its first MiB', () => {
  const concat = vi.spyOn(Buffer, 'concat');
  const reply = new WholeReply(host());
  reply.take(Buffer.from('{"data":[{"embedding":[0.1'));
  const piece = Buffer.from(',0.25'.repeat(12_000));
  for (let bytes = 0; bytes < 9 * 1024 * 1024; bytes += piece.length) reply.take(piece);
  const lengths = concat.mock.results.map(({ value }) => (value as Buffer).length);
  concat.mockRestore();
  expect(lengths).toEqual([1024 * 1024]);
});
