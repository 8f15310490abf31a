import { once } from 'node:events';
import http, { type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { spoolCounts } from '../../../server/http/body/spool.ts';
import { begun, eventually } from '../../support/eventually.ts';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { eventStream } from '../../support/upstream.ts';
import { chatWithUsage, responsesEvents } from './streams.ts';

interface Arrival {
  request: IncomingMessage;
  response: ServerResponse;
  socket: Socket;
}

/** An upstream that passes each request to the test as soon as its headers have arrived. */
const server = http.createServer();
let gateway: TestGateway;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  gateway = await startGateway({ config: { providers: [mainProvider(`http://127.0.0.1:${port}/v1`)] } });
});
afterAll(async () => {
  await gateway.stop();
  server.closeAllConnections();
  server.close();
});

async function arrival(): Promise<Arrival> {
  const [request, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  request.on('error', () => {});
  return { request, response, socket: request.socket };
}

/**
 * A client with a separate connection. The name finds its row in the ledger, because an aborted client never receives
 * the id.
 */
function ask(path: string, body: string | null, more: http.RequestOptions = {}): ClientRequest {
  const request = http.request(`${gateway.baseUrl}${path}`, {
    agent: false,
    ...more,
    method: more.method ?? 'POST',
    headers: { authorization: `Bearer ${testKey}`, ...more.headers },
  });
  request.on('error', () => {});
  if (body !== null) request.end(body);
  return request;
}

const chat = '{"model":"gpt-x","stream":true,"stream_options":{"include_usage":true}}';

let clients = 0;
const named = () => `hang-up test ${++clients}`;

function recordOf(name: string) {
  return eventually(async () => {
    const row = await gateway.record();
    return row.client === name ? row : null;
  });
}

describe('a client that hangs up', () => {
  test('before the upstream has answered stops the upstream', async () => {
    const name = named();
    const arriving = arrival();
    const request = ask('/chat/completions', chat, { headers: { 'user-agent': name } });
    const { socket } = await arriving;
    const closed = once(socket, 'close');
    request.destroy();
    await closed;
    expect(await recordOf(name)).toMatchObject({
      outcome: 'client-gone',
      status: null,
      errorCode: null,
      provider: 'main',
      usage: null,
      usageCertainty: 'none',
      attempts: [{ status: null, failure: 'client-gone' }],
    });
  });

  test('in mid-stream stops the upstream', async () => {
    const name = named();
    const arriving = arrival();
    const request = ask('/chat/completions', chat, { headers: { 'user-agent': name } });
    const { response, socket } = await arriving;
    eventStream(response);
    response.write('data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}\n\n');
    const [reply] = (await once(request, 'response')) as [IncomingMessage];
    await once(reply, 'data');
    const closed = once(socket, 'close');
    request.destroy();
    await closed;
    expect(await recordOf(name)).toMatchObject({
      outcome: 'client-gone',
      status: 200,
      errorCode: null,
      attempts: [{ status: 200, failure: 'client-gone' }],
    });
  });

  test('in the middle of a download stops the upstream', async () => {
    const name = named();
    const arriving = arrival();
    const request = ask('/audio/speech', '{"model":"gpt-x","input":"a"}', { headers: { 'user-agent': name } });
    const { response, socket } = await arriving;
    response.writeHead(200, { 'content-type': 'audio/mpeg' }).write(Buffer.alloc(1000));
    const [reply] = (await once(request, 'response')) as [IncomingMessage];
    await once(reply, 'data');
    const closed = once(socket, 'close');
    request.destroy();
    await closed;
    expect(await recordOf(name)).toMatchObject({ outcome: 'client-gone', status: 200 });
  });

  test.each([
    ['application/json', '/chat/completions', '{"model":"gpt-x",'],
    [
      'multipart/form-data; boundary=b',
      '/audio/transcriptions',
      '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\ngpt-x\r\n',
    ],
  ])('while it sends a body of %s never reaches the upstream', async (type, path, start) => {
    const name = named();
    const reached: string[] = [];
    const note = (request: IncomingMessage) => reached.push(request.url ?? '');
    server.on('request', note);
    const request = ask(path, null, {
      headers: { 'content-type': type, 'content-length': 1_000_000, 'user-agent': name },
    });
    request.flushHeaders();
    await new Promise<void>((resolve) => request.write(start, () => resolve()));
    request.destroy();
    expect(await recordOf(name)).toMatchObject({ outcome: 'client-gone', status: null, attempts: [] });
    expect(reached).toEqual([]);
    server.off('request', note);
  });

  test.each([
    [
      'response.completed',
      '/responses',
      responsesEvents.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
      11,
    ],
    ['[DONE]', '/chat/completions', chatWithUsage, 19],
  ])('right after %s has got all, and that is a success', async (_end, path, text, inputTokens) => {
    const name = named();
    const arriving = arrival();
    const request = ask(path, chat, { headers: { 'user-agent': name } });
    const { response, socket } = await arriving;
    eventStream(response);
    response.write(text);
    const [reply] = (await once(request, 'response')) as [IncomingMessage];
    let got = '';
    for await (const piece of reply) {
      got += piece;
      if (got === text) break;
    }
    const closed = once(socket, 'close');
    request.destroy();
    await closed;
    expect(await recordOf(name)).toMatchObject({
      outcome: 'ok',
      status: 200,
      usageCertainty: 'reported',
      usage: { inputTokens },
      attempts: [{ failure: null }],
    });
  });

  test('while its upload waits for an upstream that does not read leaves no file behind', async () => {
    const name = named();
    const arriving = arrival();
    const form = Buffer.concat([
      Buffer.from('--b\r\nContent-Disposition: form-data; name="model"\r\n\r\ngpt-x\r\n'),
      Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n'),
      Buffer.alloc(20_000_000),
      Buffer.from('\r\n--b--\r\n'),
    ]);
    const request = ask('/audio/transcriptions', null, {
      headers: { 'content-type': 'multipart/form-data; boundary=b', 'user-agent': name },
    });
    request.end(form);
    const upload = await arriving;
    expect(spoolCounts.files).toBe(1);
    request.destroy();
    expect(await recordOf(name)).toMatchObject({ outcome: 'client-gone', attempts: [{ failure: 'client-gone' }] });
    expect(await eventually(() => (spoolCounts.files + spoolCounts.spools === 0 ? 'none' : null))).toBe('none');
    upload.socket.destroy();
  });

  test('with usage already seen is charged for what was reported', async () => {
    const name = named();
    const arriving = arrival();
    const request = ask('/chat/completions', chat, { headers: { 'user-agent': name } });
    const { response, socket } = await arriving;
    eventStream(response);
    response.write(
      'data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}],"usage":{"prompt_tokens":7,"completion_tokens":1}}\n\n',
    );
    const [reply] = (await once(request, 'response')) as [IncomingMessage];
    await once(reply, 'data');
    const closed = once(socket, 'close');
    request.destroy();
    await closed;
    expect(await recordOf(name)).toMatchObject({
      outcome: 'client-gone',
      usageCertainty: 'partial',
      usage: { inputTokens: 7, outputTokens: 1 },
    });
  });
});

describe('a client that does not read', () => {
  test('bounds what is taken from the upstream, and gets all of it in the end', async () => {
    const arriving = arrival();
    const request = ask('/audio/speech', '{"model":"gpt-x","input":"a"}');
    const { response, socket } = await arriving;
    const total = 64 * 1024 * 1024;
    const piece = Buffer.alloc(64 * 1024, 1);
    response.writeHead(200, { 'content-type': 'audio/wav', 'content-length': total });
    const responding = begun(once(request, 'response'));
    let written = 0;
    const fill = () => {
      while (written < total) {
        written += piece.length;
        if (!response.write(piece)) return;
      }
      response.end();
    };
    response.on('drain', fill);
    fill();
    const [reply] = (await responding) as [IncomingMessage];
    // The kernel's buffers fill up, and then nothing moves: the number of bytes on the wire is the same a while later.
    const stalledAt = await eventually(async () => {
      const before = socket.bytesWritten;
      await new Promise((resolve) => setTimeout(resolve, 200));
      return socket.bytesWritten === before ? before : null;
    });
    expect(stalledAt).toBeLessThan(total / 2);
    let got = 0;
    for await (const part of reply) got += part.length;
    expect(got).toBe(total);
  });
});
