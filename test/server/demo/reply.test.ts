import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { startDemoServer } from '../../../server/demo/demo-server.ts';
import { events, sendReply } from '../../../server/demo/reply.ts';

describe('a reply of the demo', () => {
  let server: Server | undefined;
  afterEach(() => server?.close());

  it('is cut off where its events fail, and does not end as if it were complete', async () => {
    server = createServer((_, response) => {
      const failing = (function* () {
        yield { data: { first: true } };
        throw new Error('no more');
      })();
      void sendReply(response, events(failing));
    });
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
  });

  it('is a 500 in the shape of OpenAI where a route fails', async () => {
    const demo = await startDemoServer({
      now: () => {
        throw new Error('the clock stands still');
      },
    });
    const response = await fetch(`${demo.baseUrl}/videos`, {
      method: 'POST',
      headers: { authorization: `Bearer ${demo.secret}`, 'content-type': 'application/json' },
      body: '{"prompt":"x"}',
    });
    expect(response.status).toBe(500);
    const message = 'The demo provider failed: the clock stands still';
    expect(await response.json()).toEqual({ error: { message, type: 'server_error', param: null, code: null } });
    await demo.stop();
  });
});
