import http from 'node:http';
import https from 'node:https';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import type { ProbeReport } from '../../../server/contract/probe.ts';
import { probeProvider } from '../../../server/providers/probe.ts';
import { createTransport } from '../../../server/transport/create-transport.ts';
import { closedPort, unknownHost } from '../../support/ports.ts';
import { compiledProvider } from '../../support/providers.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import { listen, listenRaw, selfSignedCertificate, trusting } from '../transport/harness.ts';

const secret = 'sk-planted-secret';
const list = { object: 'list', data: [{ id: 'gpt-x' }, { id: 'gpt-y' }] };
const transport = createTransport();
const stopping: { stop(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(stopping.splice(0).map((one) => one.stop()));
});
afterAll(() => transport.close());

function kept<T extends { stop(): Promise<void> }>(one: T): T {
  stopping.push(one);
  return one;
}

async function upstream(script: Parameters<typeof startUpstream>[0]): Promise<ScriptedUpstream> {
  return kept(await startUpstream(script));
}

type ProviderParameters = Parameters<typeof compiledProvider>;

async function probe(
  baseUrl: string,
  more: Omit<ProviderParameters[0], 'baseUrl'> = {},
  model?: string,
): Promise<ProbeReport> {
  const report = await probeProvider(compiledProvider({ ...more, baseUrl }, secret), {
    transport,
    ...(model && { model }),
  });
  expect(JSON.stringify(report)).not.toContain('planted');
  expect(report.steps.map(({ name }) => name)).toEqual([
    'dns',
    'proxy',
    'connection',
    'tls',
    'base-url',
    'credential',
    'quota',
    'models',
    'call',
  ]);
  // One step fails, the following ones were not reached, and each failure contains advice.
  const failed = report.steps.findIndex(({ status }) => status === 'failed');
  expect(report.failedAt).toBe(report.steps[failed]?.name ?? null);
  expect(report.ok).toBe(failed === -1);
  if (failed !== -1) {
    expect(report.steps[failed]?.advice).toBeTruthy();
    for (const step of report.steps.slice(failed + 1)) expect(step.status).toBe('skipped');
  }
  return report;
}

function failure(report: ProbeReport): string {
  const step = report.steps.find(({ status }) => status === 'failed');
  return `${step?.name}: ${step?.message}. ${step?.advice}`;
}

/** Answers 401 to requests without the secret. */
function guarded(reply: (response: http.ServerResponse) => void): Parameters<typeof startUpstream>[0] {
  return (request, response) => {
    if (request.headers.authorization === `Bearer ${secret}`) reply(response);
    else json(response, { error: { message: `no ${secret}` } }, 401);
  };
}

describe('a provider that can be used', () => {
  test('passes every hop', async () => {
    const { baseUrl } = await upstream(guarded((response) => json(response, list)));
    const report = await probe(baseUrl, {}, 'gpt-x');
    expect(report).toMatchObject({ ok: true, modelCount: 2, provider: 'main' });
    const status = Object.fromEntries(report.steps.map((step) => [step.name, step.status]));
    expect(status).toEqual({
      dns: 'skipped',
      proxy: 'skipped',
      connection: 'ok',
      tls: 'skipped',
      'base-url': 'ok',
      credential: 'ok',
      quota: 'ok',
      models: 'ok',
      call: 'skipped',
    });
  });

  test('with no models yet, as a server in Go says it, or with a list of 6 MB', async () => {
    const { baseUrl } = await upstream((_request, response) => json(response, { object: 'list', data: null }));
    expect(await probe(baseUrl)).toMatchObject({ ok: true, modelCount: 0 });
    const long = { data: Array.from({ length: 3_000 }, (_, id) => ({ id: `m${id}`, description: 'x'.repeat(2_000) })) };
    const longer = await upstream((_request, response) => json(response, long));
    expect(await probe(longer.baseUrl)).toMatchObject({ ok: true, modelCount: 3_000 });
  });

  test('has its model on a later page of the list', async () => {
    const { baseUrl } = await upstream((request, response) => {
      const isFirst = !request.url?.includes('after=gpt-y');
      json(response, isFirst ? { ...list, has_more: true } : { data: [{ id: 'gpt-z' }], has_more: false });
    });
    expect(await probe(baseUrl, {}, 'gpt-z')).toMatchObject({ ok: true, modelCount: 3 });
  });

  test('is not said to accept a credential where its list is open to all', async () => {
    const { baseUrl } = await upstream((_request, response) => json(response, list));
    const credential = (await probe(baseUrl)).steps.find(({ name }) => name === 'credential');
    expect(credential).toMatchObject({ status: 'skipped' });
    expect(credential?.message).toContain('not tested');
  });

  test('without a list of its own is not said to fail where its models are listed by hand', async () => {
    const { baseUrl } = await upstream((_request, response) => json(response, { error: 'no' }, 404));
    const report = await probe(baseUrl, { models: ['sonar'] });
    expect(report).toMatchObject({ ok: true, modelCount: null });
    expect(report.steps.find(({ name }) => name === 'models')?.message).toContain('paid call');
  });
});

describe('the hop that fails is named:', () => {
  test('a host name that does not exist', async () => {
    expect(failure(await probe(`https://${unknownHost}/v1`))).toMatch(/^dns: .*no-such-host.*\.invalid.*spelling/);
  });

  test('a proxy that is not there', async () => {
    const proxy = `http://me:planted@127.0.0.1:${await closedPort()}`;
    const report = await probe('https://api.example/v1', { proxy });
    expect(failure(report)).toMatch(/^proxy: proxy 127\.0\.0\.1:\d+: .*ECONNREFUSED.*"direct"/);
    expect(report.steps[0]).toMatchObject({ status: 'skipped', message: 'the proxy looks up api.example' });
  });

  test('a port where nobody listens', async () => {
    const port = await closedPort();
    expect(failure(await probe(`http://127.0.0.1:${port}/v1`))).toMatch(
      new RegExp(`^connection: .*ECONNREFUSED.*listening on 127.0.0.1:${port}`),
    );
  });

  test('a service that hangs up', async () => {
    const server = kept(await listenRaw((socket) => socket.destroy()));
    expect(failure(await probe(`http://127.0.0.1:${server.port}/v1`))).toMatch(/^connection: /);
  });

  test('a certificate that is not trusted, with its issuer', async () => {
    const server = kept(await listen(https.createServer(selfSignedCertificate('Corporate Proxy CA'))));
    const report = await probe(`https://127.0.0.1:${server.port}/v1`);
    expect(failure(report)).toMatch(/^tls: .*issued by "Corporate Proxy CA".*settings\.extraCaFiles/);
    expect(report.steps.find(({ name }) => name === 'connection')?.status).toBe('ok');
    expect(report.certificate?.fingerprint).toMatch(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/);
  });

  test('a certificate for another name', async () => {
    const certificate = selfSignedCertificate('Elsewhere', 'DNS:elsewhere.example');
    const confident = createTransport({ authorities: trusting(certificate.cert) });
    const server = kept(await listen(https.createServer(certificate)));
    const provider = compiledProvider({ baseUrl: `https://127.0.0.1:${server.port}/v1` });
    const report = await probeProvider(provider, { transport: confident });
    await confident.close();
    expect(failure(report)).toMatch(/^tls: .*for another name/);
  });

  test('https to a port that speaks http', async () => {
    const server = kept(await listen(http.createServer()));
    expect(failure(await probe(`https://127.0.0.1:${server.port}/v1`))).toMatch(/^tls: .*use http in the base URL/);
  });

  test('something that is not HTTP', async () => {
    const server = kept(await listenRaw((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n')));
    expect(failure(await probe(`http://127.0.0.1:${server.port}/v1`))).toMatch(/^base-url: .*no HTTP API on this port/);
  });

  test('a missing /v1, which is tried and named', async () => {
    const { origin } = await upstream((request, response) => {
      json(
        response,
        request.url === '/v1/models' ? list : { detail: 'Not Found' },
        request.url === '/v1/models' ? 200 : 404,
      );
    });
    expect(failure(await probe(origin))).toBe(
      `base-url: there is no model list at this address (404). Set the base URL to ${origin}/v1: an API answers there.`,
    );
  });

  test.each([
    '/v1/chat/completions',
    '/v1/models',
    '/v1/responses',
    '/v1/messages',
    '/chat/completions',
    '/models',
    '/v1/embeddings',
  ])('the address of a call, %s, whose base URL is tried and named', async (path) => {
    const { origin } = await upstream((request, response) => {
      const isList = request.method === 'GET' && request.url === '/v1/models';
      json(response, isList ? list : { error: { message: 'no such path' } }, isList ? 200 : 404);
    });
    expect(failure(await probe(`${origin}${path}`))).toBe(
      `base-url: there is no model list at this address (404). Set the base URL to ${origin}/v1: an API answers there.`,
    );
  });

  test('a list that is too long to read, as such', async () => {
    const { baseUrl } = await upstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ data: [{ id: 'a', description: 'x'.repeat(9 * 2 ** 20) }] }));
    });
    expect(failure(await probe(baseUrl))).toBe(
      'models: its list of models is longer than 8 MB, which Sluice does not read. ' +
        'Name the models that you use in the provider’s settings, in place of asking for the list.',
    );
  });

  test('a web page in place of the API, which moves to /v1', async () => {
    const { origin } = await upstream((request, response) => {
      if (request.url === '/v1/models') json(response, {}, 401);
      else response.writeHead(200, { 'content-type': 'text/html' }).end('<!DOCTYPE html><html></html>');
    });
    expect(failure(await probe(origin))).toContain(
      `web page answers there (200), not an API. Set the base URL to ${origin}/v1`,
    );
  });

  test('a base URL that leads nowhere', async () => {
    const { baseUrl } = await upstream((_request, response) => json(response, {}, 404));
    expect(failure(await probe(baseUrl))).toMatch(/^base-url: .*\(404\)\. Check the base URL against/);
  });

  test('JSON that is no list', async () => {
    const { baseUrl } = await upstream((_request, response) => json(response, { hello: 'world' }));
    expect(failure(await probe(baseUrl))).toMatch(/^base-url: .*not a list of models/);
  });

  test('a redirect, without its query', async () => {
    const { baseUrl, origin } = await upstream((_request, response) => {
      response.writeHead(302, { location: '/login?token=planted' }).end();
    });
    expect(failure(await probe(baseUrl))).toContain(`base-url: it redirects to ${origin}/login.`);
  });

  test.each([
    [401, /^credential: it rejected the credential "c1" \(401\)/],
    [403, /^credential: the credential "c1" has no permissions there \(403\)/],
    [402, /^quota: .*402.*billing/],
    [429, /^quota: .*429.*wait/],
    [500, /^models: it answered 500.*service itself has a problem/],
    [400, /^base-url: it could not handle the request/],
  ])('an answer of %i', async (status, expected) => {
    const { baseUrl } = await upstream((_request, response) => json(response, { error: { message: secret } }, status));
    expect(failure(await probe(baseUrl))).toMatch(expected);
  });

  test('a credential that is missing', async () => {
    const { baseUrl } = await upstream((_request, response) => json(response, {}, 401));
    const report = await probeProvider(compiledProvider({ baseUrl }), { transport });
    expect(failure(report)).toContain('credential: it requires a credential (401). Add a credential');
  });

  test('a model that it does not list', async () => {
    const { baseUrl } = await upstream(guarded((response) => json(response, list)));
    expect(failure(await probe(baseUrl, {}, 'gpt-z'))).toContain('models: "gpt-z" is not among its 2 models');
  });
});

describe('whether a service has the Responses API', () => {
  const service = (status: number) =>
    upstream((request, response) => {
      if (request.url === '/v1/models') json(response, list);
      else json(response, { error: { message: 'no' } }, status);
    });

  test.each([
    [404, true],
    [405, true],
    [400, false],
    [422, false],
    [401, false],
    [500, false],
  ])('is told by the status %i for what is no request', async (status, lacks) => {
    const { baseUrl, seen } = await service(status);
    expect((await probe(baseUrl)).lacksResponses).toBe(lacks);
    const asked = seen.filter(({ method }) => method === 'POST');
    expect(asked.map(({ url, body }) => [url, body.toString()])).toEqual([['/v1/responses', '[]']]);
  });

  test('is not asked where it is known, or nothing works', async () => {
    const known = await service(404);
    expect((await probe(known.baseUrl, { serves: ['chat', 'responses'] })).lacksResponses).toBe(false);
    const broken = await upstream((_request, response) => json(response, {}, 500));
    expect((await probe(broken.baseUrl)).lacksResponses).toBe(false);
    for (const { seen } of [known, broken]) expect(seen.filter(({ method }) => method === 'POST')).toEqual([]);
  });
});
