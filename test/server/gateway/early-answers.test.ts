import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import http, { type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({
    config: {
      providers: [mainProvider('http://127.0.0.1:9/v1')],
      groups: [{ id: 'default', passthrough: null }],
      settings: { limits: { jsonBodyBytes: 5_000, multipartBodyBytes: 300_000 } },
    },
  });
});
afterAll(() => gateway.stop());

describe('an answer comes at once, while the body is still being sent,', () => {
  const cases = [
    ['to an unknown URL', '/nope', testKey, 404],
    ['to a wrong method', '/models', testKey, 405],
    ['to an unknown key', '/embeddings', 'sk-nobody', 401],
    ['to a body over the limit', '/embeddings', testKey, 413],
    ['to a form over the limit', '/audio/transcriptions', testKey, 413],
  ] as const;
  const total = 12_000_000;
  const head = (path: string, key: string) => ({
    authorization: `Bearer ${key}`,
    'content-type': path.startsWith('/audio') ? 'multipart/form-data; boundary=b' : 'application/json',
    'content-length': total,
  });

  test.each(cases)('%s, for a client that has hardly begun', async (_name, path, key, status) => {
    const request = http.request(gateway.baseUrl + path, { method: 'POST', headers: head(path, key), agent: false });
    request.on('error', () => {});
    request.write('{');
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    let text = '';
    for await (const piece of response) text += piece;
    expect([response.statusCode, Object.keys(JSON.parse(text))]).toEqual([status, ['error']]);
    request.destroy();
  });

  test.each(cases)('%s, and reaches a client that sends all before it reads', async (_name, path, key, status) => {
    const socket = connect(Number(new URL(gateway.origin).port), '127.0.0.1');
    const lines = Object.entries(head(path, key)).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`POST /v1${path} HTTP/1.1\r\nhost: localhost\r\n${lines.join('')}\r\n`);
    const piece = Buffer.alloc(1_000_000, ' ');
    for (let sent = 0; sent < total; sent += piece.length) {
      await new Promise<void>((resolve, reject) => socket.write(piece, (error) => (error ? reject(error) : resolve())));
    }
    let text = '';
    for await (const part of socket) {
      text += part;
      if (text.endsWith('}}')) break;
    }
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(text).toContain('connection: close');
  });

  test.each(cases)('%s, and reaches fetch', async (_name, path, key, status) => {
    const { 'content-length': _length, ...headers } = head(path, key);
    const response = await fetch(gateway.baseUrl + path, { method: 'POST', headers, body: new Uint8Array(total) });
    expect([response.status, Object.keys((await response.json()) as object)]).toEqual([status, ['error']]);
  });

  test.each(cases)('%s, and reaches curl', async (_name, path, key, status) => {
    const file = join(gateway.folder, 'large');
    writeFileSync(file, new Uint8Array(total));
    const { 'content-length': _length, ...headers } = head(path, key);
    const options = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
    const text = await new Promise<string>((resolve, reject) => {
      execFile(
        'curl',
        ['-s', '-w', ' %{http_code}', ...options, '--data-binary', `@${file}`, gateway.baseUrl + path],
        (error, out) => (error && 'code' in error && error.code === 'ENOENT' ? reject(error) : resolve(out)),
      );
    });
    expect(text).toMatch(new RegExp(`^{"error":.*} ${status}$`));
  });

  test('and a short rest is read, so that the connection can be used again', async () => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const ask = async () => {
      const request = http.request(`${gateway.baseUrl}/nope`, { method: 'POST', agent });
      request.end(Buffer.alloc(200_000));
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      for await (const _piece of response);
      return request.reusedSocket;
    };
    expect([await ask(), await ask(), await ask()]).toEqual([false, true, true]);
    agent.destroy();
  });

  test('and a connection whose rest never comes is closed', async () => {
    const request = http.request(`${gateway.baseUrl}/nope`, {
      method: 'POST',
      headers: { authorization: `Bearer ${testKey}`, 'content-length': 1_000 },
      agent: false,
    });
    request.on('error', () => {});
    request.write('x');
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(404);
    await once(response.socket, 'close');
  });
});

test('errors without a body keep the connection', async () => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const ask = async () => {
    const request = http.get(`${gateway.baseUrl}/nope`, { agent });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    for await (const _piece of response);
    return request.reusedSocket;
  };
  expect([await ask(), await ask()]).toEqual([false, true]);
  agent.destroy();
});
