import { expect, test } from 'vitest';
import { createTransport } from '../../../server/transport/create-transport.ts';
import { createFetch } from '../../../server/transport/fetch.ts';
import { closedPort } from '../../support/ports.ts';
import { openTransportInSuite } from './harness.ts';

const { transport, serve } = openTransportInSuite();
const fetch = createFetch(transport);

test('a call is sent as it is, and its answer is told with status, headers and body', async () => {
  const { origin } = await serve(async (request, response) => {
    let body = '';
    for await (const piece of request.setEncoding('utf8')) body += piece;
    response.writeHead(201, { 'x-seen': `${request.method} ${request.url} ${request.headers['x-mine']}` });
    response.end(JSON.stringify({ body }));
  });
  const options = { method: 'POST', headers: { 'x-mine': 'yes' }, body: 'grüß' };
  const response = await fetch(`${origin}/path?query=1`, options);
  expect([response.status, response.headers.get('x-seen')]).toEqual([201, 'POST /path?query=1 yes']);
  expect(await response.json()).toEqual({ body: 'grüß' });
});

test('no redirect is followed, since it would take a token along', async () => {
  const { origin } = await serve((_request, response) => response.writeHead(302, { location: '/else' }).end());
  expect((await fetch(origin)).status).toBe(302);
});

test('a stream is told piece by piece, and ended by who reads it', async () => {
  const closed = Promise.withResolvers<void>();
  const { origin } = await serve((_request, response) => {
    response.write('first');
    response.on('close', closed.resolve);
  });
  const { body } = await fetch(origin);
  const reader = body?.getReader();
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('first');
  await reader?.cancel();
  await closed.promise;
});

test('an answer without a body, a closed port and a call that is given up', async () => {
  const { origin } = await serve((_request, response) => response.writeHead(204).end());
  expect((await fetch(origin)).body).toBeNull();
  await expect(fetch(`http://127.0.0.1:${await closedPort()}`)).rejects.toMatchObject({ fault: 'refused' });
  const silent = await serve(() => {});
  const giving = new AbortController();
  const answer = fetch(silent.origin, { signal: giving.signal });
  giving.abort();
  await expect(answer).rejects.toMatchObject({ fault: 'aborted' });
});

test('it goes through the proxy of the system, as calls to providers do', async () => {
  const proxy = await serve((request, response) => response.end(`asked for ${request.url}`));
  const proxied = createTransport({ proxies: { httpProxy: proxy.origin } });
  const response = await createFetch(proxied)('http://login.example/keys');
  expect(await response.text()).toBe('asked for http://login.example/keys');
  await proxied.close();
});
