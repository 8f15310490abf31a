import { once } from 'node:events';
import http, { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import {
  type CassetteRequest,
  CassetteVisit,
  type TakeResult,
} from '../../../../server/exchange/cassette/cassette-companion.ts';
import type { AdmittedRequest } from '../../../../server/exchange/course/companion.ts';
import { RequestTrace } from '../../../../server/exchange/record/exchange-trace.ts';

test('a client that leaves while its recording is sought ends the visit', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = http.get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', agent: false });
  client.on('error', () => {});
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
  const trace = new RequestTrace('GET', []);
  const taking = Promise.withResolvers<TakeResult>();
  const deck = { replaysOnly: true, take: () => taking.promise, close: async () => {} };
  const visit = new CassetteVisit(deck, { response, trace, taps: [], outlet: null } as unknown as AdmittedRequest);
  const answered = visit.answer({} as CassetteRequest);
  client.destroy();
  await once(response, 'close');
  visit.clientLeft();
  const pieces = [{ afterMs: 1, bytes: Buffer.from('data: a\n\n') }];
  taking.resolve({ kind: 'replayed', answer: { status: 200, headers: {}, pieces, isCut: true }, pace: 0 });
  expect(await answered).toBe(true);
  expect(trace.response.outcome).toBe('client-gone');
  server.close();
});
