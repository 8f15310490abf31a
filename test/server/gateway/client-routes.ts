/** The official client at a gateway with one upstream; checks that its requests arrive unchanged. */
import type OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { eventStream, oddCuts, type ScriptedUpstream, sendPieces, startUpstream } from '../../support/upstream.ts';
import { samples } from './streams.ts';

export class ClientRoutes {
  /** The body that the official client sent. */
  sent: Buffer = Buffer.alloc(0);
  #upstream: ScriptedUpstream | undefined;
  #gateway: TestGateway | undefined;

  get upstream(): ScriptedUpstream {
    if (!this.#upstream) throw new Error('An upstream is there during tests only.');
    return this.#upstream;
  }

  get gateway(): TestGateway {
    if (!this.#gateway) throw new Error('A gateway is there during tests only.');
    return this.#gateway;
  }

  get client(): OpenAI {
    return this.gateway.client.withOptions({
      fetch: async (url, init) => {
        const request = new Request(url, init);
        this.sent = Buffer.from(await request.arrayBuffer());
        const { method, headers, signal } = request;
        const body = this.sent.length > 0 ? { body: new Uint8Array(this.sent) } : {};
        return fetch(url, { method, headers, signal, ...body });
      },
    });
  }

  /** Registers the hooks; must be called at the top level of a test file. */
  use(): this {
    beforeAll(async () => {
      this.#upstream = await startUpstream();
      this.#gateway = await startGateway({ config: { providers: [mainProvider(this.#upstream.baseUrl)] } });
    });
    afterAll(async () => {
      await this.#gateway?.stop();
      await this.#upstream?.stop();
    });
    beforeEach(() => {
      this.sent = Buffer.alloc(0);
    });
    return this;
  }

  /** Sets the answer to the next request, which is sent in irregular pieces. */
  answers(value: unknown, contentType = 'application/json'): void {
    const bytes = Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value));
    this.upstream.answer((_request, response) => {
      response.writeHead(200, { 'content-type': contentType, 'x-request-id': 'req_of_upstream' });
      return sendPieces(response, bytes, oddCuts(bytes.length));
    });
  }

  streams(name: string): void {
    const sample = samples.find((one) => one.name === name);
    if (!sample) throw new Error(`There is no sample "${name}".`);
    this.upstream.answer((_request, response) => {
      eventStream(response);
      return sendPieces(response, sample.bytes, oddCuts(sample.bytes.length));
    });
  }

  /** Expects that the request arrived as the client sent it, except for the credential. */
  expectArrived(method: string, url: string): void {
    const seen = this.upstream.seen.at(-1);
    expect([seen?.method, seen?.url]).toEqual([method, url]);
    expect(seen?.body.equals(this.sent)).toBe(true);
    expect(seen?.headers).toMatchObject({
      authorization: 'Bearer upstream-secret',
      host: new URL(this.upstream.origin).host,
      'accept-encoding': 'identity',
      'x-sluice-hops': '1',
      'x-stainless-lang': 'js',
    });
    expect(seen?.headers['user-agent']).toMatch(/^OpenAI\/JS /);
    expect(JSON.stringify(seen?.headers)).not.toContain(testKey);
  }
}
