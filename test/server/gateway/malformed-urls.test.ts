/** A URL with a `%` that begins no escape is a mistake of the caller on every route, and none of Sluice's. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import pino from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mainProvider, testKey } from '../../support/gateway.ts';
import { type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import { type ControlGateway, startControlGateway } from '../control/control-gateway.ts';

let upstream: ScriptedUpstream;
let gateway: ControlGateway;
let windowFolder: string;
const logged: string[] = [];

beforeAll(async () => {
  upstream = await startUpstream();
  windowFolder = mkdtempSync(join(tmpdir(), 'sluice-window-'));
  writeFileSync(join(windowFolder, 'index.html'), '<!doctype html>');
  const sink = new PassThrough().on('data', (line: Buffer) => logged.push(line.toString()));
  gateway = await startControlGateway({
    config: { providers: [mainProvider(upstream.baseUrl)], settings: { metrics: 'on' } },
    secrets: { 'provider/main/c1': 'upstream-secret' },
    ports: { log: pino({ level: 'trace' }, sink), windowFolder },
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
  rmSync(windowFolder, { recursive: true });
});
beforeEach(() => {
  logged.length = 0;
  upstream.seen.length = 0;
});

/** Sends the path as it is written. */
function send(
  method: string,
  path: string,
  headers: Record<string, string>,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const { port } = new URL(gateway.origin);
    const request = http.request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    });
    request.on('error', reject);
    request.end();
  });
}

const places = [
  '/',
  '/assets/',
  '/nothing/',
  '/livez',
  '/healthz',
  '/control/',
  '/control/query/',
  '/metrics/',
  '/sign-in/',
  '/v1/',
  '/v1/models/',
  '/v1/chat/completions/',
  '/v1/videos/',
  '/v1/responses/',
  '/v1/files/',
  '/v1/messages/',
  '/v1/messages/batches/',
  '/v1beta/models/',
  '/v1beta/files/',
  '/upload/v1beta/files/',
  '/openai/deployments/',
  '/openai/v1/files/',
];

const odd = ['%', '%2', '%zz', 'a%', '%%', '%e0%80', '%c0%af', '%ff', '%ed%a0%80'];
const oddQueries = ['?%', '?a=%', '?a=%2', '?a=%zz&b=1', '?key=%'];

describe.each<[string, () => Record<string, string>]>([
  ['without a key', () => ({})],
  ['with a key', () => ({ authorization: `Bearer ${testKey}` })],
  ['with a key of Anthropic’s clients', () => ({ 'x-api-key': testKey, 'anthropic-version': '2023-06-01' })],
  ['with a key of Gemini’s clients', () => ({ 'x-goog-api-key': testKey, 'x-goog-api-client': 'x' })],
  ['with the admin token', () => ({ authorization: `Bearer ${gateway.adminToken}` })],
  ['as a WebSocket', () => ({ connection: 'upgrade', upgrade: 'websocket', authorization: `Bearer ${testKey}` })],
])('%s', (_sender, headers) => {
  test.each(places)('an odd percent sign is a 400 in the log of nobody, below %s', async (place) => {
    for (const method of ['GET', 'POST']) {
      for (const path of [...odd.map((end) => place + end), ...oddQueries.map((query) => place + query)]) {
        const told = await send(method, path, headers());
        expect(told.status, `${method} ${path}`).toBe(400);
        expect(JSON.parse(told.text), path).toMatchObject({ error: { message: expect.stringMatching(/"%" must/) } });
      }
    }
    expect(logged.filter((line) => /"level":[56]0|\bat \S+ \(/.test(line))).toEqual([]);
    expect(upstream.seen).toEqual([]);
  });
});

test('each API says so in its own form', async () => {
  const textOf = async (path: string, headers = {}) => JSON.parse((await send('GET', path, headers)).text);
  expect(await textOf('/v1/files/%')).toMatchObject({ error: { type: 'invalid_request_error' } });
  expect(await textOf('/v1/messages/%')).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
  expect(await textOf('/v1beta/files/%')).toMatchObject({ error: { code: 400, status: 'INVALID_ARGUMENT' } });
});

test('a page of another origin learns no more than before', async () => {
  const told = await send('GET', '/v1/%', { origin: 'https://evil.example', host: 'evil.example' });
  expect(told.status).toBe(403);
});
