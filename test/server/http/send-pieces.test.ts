import http, { type ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sendPieces } from '../../../server/http/control-routes.ts';
import { type ListeningSocketServer, listen } from '../transport/harness.ts';

let server: ListeningSocketServer;
let pieces: () => AsyncIterable<string>;
let sent: PromiseWithResolvers<void>;

beforeEach(async () => {
  sent = Promise.withResolvers();
  const answer = (_request: unknown, response: ServerResponse) => {
    sendPieces(pieces(), response).then(sent.resolve, sent.reject);
  };
  server = await listen(http.createServer(answer));
});
afterEach(() => server.stop());

const ask = (signal?: AbortSignal) => fetch(`http://127.0.0.1:${server.port}`, { ...(signal && { signal }) });

test('sends all pieces', async () => {
  pieces = async function* () {
    yield 'a';
    yield 'b';
  };
  expect(await (await ask()).text()).toBe('ab');
  await sent.promise;
});

test.each([[[]], [['a']]])(
  'rejects if a piece cannot be made after %j, and breaks the response off',
  async (before) => {
    pieces = async function* () {
      yield* before;
      throw new Error('The ledger cannot be read.');
    };
    const failed = expect(sent.promise).rejects.toThrow('The ledger cannot be read.');
    await expect(ask().then((response) => response.text())).rejects.toThrow();
    await failed;
  },
);

test('makes no more pieces once the client has left', async () => {
  const leaving = new AbortController();
  let isOver = false;
  pieces = async function* () {
    try {
      for (;;) yield 'a'.repeat(100_000);
    } finally {
      isOver = true;
    }
  };
  const response = await ask(leaving.signal);
  expect(response.status).toBe(200);
  leaving.abort();
  await sent.promise;
  expect(isOver).toBe(true);
});
