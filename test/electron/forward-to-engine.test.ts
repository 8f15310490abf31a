import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { forwardToEngine } from '../../electron/forward-to-engine.ts';
import { begun } from '../support/eventually.ts';
import { json, type Script, type ScriptedUpstream, startUpstream } from '../support/upstream.ts';

/** Replaces the engine's own server. */
let engine: ScriptedUpstream;

afterEach(() => engine.stop());

async function forward(script: Script, init: RequestInit = {}): Promise<Response> {
  engine = await startUpstream(script);
  return forwardToEngine(new Request('sluice-window://app/v1/x', init), `${engine.baseUrl}/x`);
}

describe('what the page asks of the engine', () => {
  it('waits longer for an answer, and for the rest of it, than fetch does', async () => {
    const usual = getGlobalDispatcher();
    // The default is five minutes; shortened for this test.
    const patience = new Agent({ headersTimeout: 1, bodyTimeout: 1 });
    setGlobalDispatcher(patience);
    const waiting: ServerResponse[] = [];
    const asked = Promise.withResolvers<void>();
    const forwarded = begun(
      forward((_request, response) => {
        waiting.push(response);
        asked.resolve();
      }),
    );
    await asked.promise;
    const fetchGivesUp = () => expect(fetch(engine.baseUrl)).rejects.toThrow('fetch failed');
    await fetchGivesUp();
    waiting[0]?.write('first ');
    const reply = await forwarded;
    await fetchGivesUp();
    waiting[0]?.end('second');
    expect(await reply.text()).toBe('first second');
    setGlobalDispatcher(usual);
    await patience.close();
  });

  it('goes there with its body and headers, but without what a browser adds', async () => {
    const headers = { authorization: 'Bearer k', origin: 'sluice-window://app', 'accept-encoding': 'gzip' };
    const reply = await forward((_request, response) => json(response, { ok: true }), {
      ...{ method: 'POST', headers, body: 'what it says' },
    });
    expect(await reply.json()).toEqual({ ok: true });
    const [seen] = engine.seen;
    expect(seen).toMatchObject({ method: 'POST', url: '/v1/x', headers: { authorization: 'Bearer k' } });
    expect(seen?.body.toString()).toBe('what it says');
    expect(seen?.headers).not.toHaveProperty('origin');
    expect(seen?.headers).not.toHaveProperty('accept-encoding');
  });

  it('is answered with an error as it is, and with nothing where there is nothing', async () => {
    const refused = await forward((_request, response) => json(response, { error: {} }, 429));
    expect([refused.status, await refused.json()]).toEqual([429, { error: {} }]);
    engine.answer((_request, response) => void response.writeHead(204).end());
    const empty = await forwardToEngine(new Request('sluice-window://app/v1/x'), engine.baseUrl);
    expect([empty.status, empty.body]).toEqual([204, null]);
  });

  it('is unpacked where a provider packed it unasked', async () => {
    const reply = await forward((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'x-request-id': 'r1' }).end(gzipSync('packed'));
    });
    expect(await reply.text()).toBe('packed');
    expect([...reply.headers.keys()]).toEqual(['date', 'x-request-id']);
  });

  it('breaks off for the page where the engine breaks it off, and for the engine where the page leaves', async () => {
    const broken = await forward((_request, response) => {
      response.write('a part', () => response.destroy());
    });
    await expect(broken.text()).rejects.toThrow();
    const left = Promise.withResolvers<void>();
    engine.answer((_request, response) => {
      response.on('close', left.resolve);
      response.write('a part');
    });
    const reply = await forwardToEngine(new Request('sluice-window://app/v1/x'), engine.baseUrl);
    await reply.body?.cancel();
    await left.promise;
  });

  it('fails at once where nobody listens', async () => {
    engine = await startUpstream();
    await engine.stop();
    const asking = forwardToEngine(new Request('sluice-window://app/v1/x'), engine.baseUrl);
    await expect(asking).rejects.toThrow('ECONNREFUSED');
  });
});
