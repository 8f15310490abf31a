import http, { type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Connection, Subscription } from '../../../../renderer/state/api/api.ts';
import { createHttpApi } from '../../../../renderer/state/api/create-api.ts';
import type { EventMessage } from '../../../../server/contract/events.ts';
import { snapshot, status } from '../../events.ts';

type Answer = (response: ServerResponse) => void;

let stop: (() => Promise<void>) | undefined;

afterEach(async () => {
  await stop?.();
  stop = undefined;
});

describe('the engine over HTTP', () => {
  it('gives the result of a command', async () => {
    const api = createHttpApi(await serve((response) => response.end('{"result":{"revision":7}}')));
    expect(await api.execute({ type: 'key.revoke', id: 'k1' })).toEqual({ revision: 7 });
  });

  it('rejects with the engine’s code and words', async () => {
    const error = { message: 'There is no key "k1".', type: 'invalid_request_error', param: null, code: 'not_found' };
    const api = createHttpApi(await serve((response) => response.writeHead(404).end(JSON.stringify({ error }))));
    await expect(api.execute({ type: 'key.revoke', id: 'k1' })).rejects.toMatchObject({
      name: 'ControlError',
      code: 'not_found',
      message: 'There is no key "k1".',
    });
  });

  it('rejects with "unreachable" where nobody answers, or nobody that is an engine', async () => {
    const nobody = createHttpApi('http://127.0.0.1:1');
    await expect(nobody.query({ type: 'status' })).rejects.toMatchObject({ code: 'unreachable' });
    const stranger = createHttpApi(await serve((response) => response.end('<html>')));
    await expect(stranger.query({ type: 'status' })).rejects.toMatchObject({ code: 'unreachable' });
  });

  it('tells events as they come, cut anywhere', async () => {
    const text = [message(3, 1), message(4, 2)].join(':\n\n');
    const bytes = Buffer.from(text.replace('0.0.0', '零.0.0'));
    const origin = await serve((response) => {
      response.writeHead(200);
      for (const byte of bytes) response.write(Uint8Array.of(byte));
    });
    const heard = listen(origin);
    await expect.poll(() => heard.events).toEqual(['snapshot', 'config-changed']);
    expect(heard.connections).toEqual(['open']);
  });

  it('asks for a new snapshot after a gap in the revisions', async () => {
    let asked = 0;
    const origin = await serve((response) => {
      asked++;
      response.writeHead(200).write(message(1, 1) + (asked === 1 ? message(3, 3) : ''));
    });
    const heard = listen(origin);
    await expect.poll(() => heard.events).toEqual(['snapshot', 'snapshot']);
    expect(heard.connections).toEqual(['open', 'lost', 'open']);
  });

  it('comes back by itself after the connection broke', async () => {
    let asked = 0;
    const origin = await serve((response) => {
      asked++;
      if (asked === 2) response.destroy();
      else response.writeHead(200).write(message(1, 1), () => asked === 1 && response.destroy());
    });
    const heard = listen(origin);
    await expect.poll(() => heard.connections).toEqual(['open', 'lost', 'lost', 'open']);
  });

  it('does not go on asking an engine that refuses it, until it is told to', async () => {
    let asked = 0;
    const origin = await serve((response) => {
      asked++;
      response.writeHead(asked === 1 ? 403 : 200);
      if (asked === 1) response.end();
      else response.write(message(1, 1));
    });
    const heard = listen(origin);
    await expect.poll(() => heard.connections).toEqual(['signed-out']);
    expect(asked).toBe(1);
    heard.subscription.retry();
    await expect.poll(() => heard.connections).toEqual(['signed-out', 'open']);
  });
});

/** A message as the engine writes it: a snapshot as the first one of a stream, otherwise a change. */
function message(revision: number, configRevision: number): string {
  const event = configRevision === 1 ? snapshot() : { type: 'config-changed' as const, status: status(configRevision) };
  const content: EventMessage = { revision, event };
  return `id: ${revision}\ndata: ${JSON.stringify(content)}\n\n`;
}

function listen(origin: string) {
  const events: string[] = [];
  const connections: Connection[] = [];
  const subscription: Subscription = createHttpApi(origin).subscribe({
    onEvent: (event) => events.push(event.type),
    onConnection: (connection) => connections.push(connection),
  });
  const stopServer = stop;
  stop = async () => {
    subscription.stop();
    await stopServer?.();
  };
  return { events, connections, subscription };
}

async function serve(answer: Answer): Promise<string> {
  const server = http.createServer((_request, response) => answer(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stop = () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
