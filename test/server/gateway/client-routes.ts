/** The official client at a gateway with one upstream; checks that its requests arrive unchanged. */

import type OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import type { ConfigInput } from '../../../server/contract/config.ts';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { bedrockKey } from '../../support/strict-bedrock.ts';
import { eventStream, oddCuts, type ScriptedUpstream, sendPieces, startUpstream } from '../../support/upstream.ts';
import { samples } from './streams.ts';

// A gateway with scripted Bedrock and Vertex AI providers.

/** Base path of the Vertex AI provider. */
export const base = '/v1/projects/p1/locations/us-east5';

interface CloudModels {
  aws: string[];
  vertex: string[];
}

/** Starts one for all tests of a file. The recorded requests are cleared before each test. Registers the hooks. */
export function cloudsInSuite(models: CloudModels, more?: Partial<ConfigInput>): Omit<Clouds, 'stop'> {
  let clouds: Clouds;
  beforeAll(async () => {
    clouds = await startClouds(models, more);
  });
  afterAll(() => clouds.stop());
  beforeEach(() => {
    for (const { seen } of [clouds.aws, clouds.vertex]) seen.length = 0;
  });
  return {
    get aws() {
      return clouds.aws;
    },
    get vertex() {
      return clouds.vertex;
    },
    get gateway() {
      return clouds.gateway;
    },
    get client() {
      return clouds.client;
    },
  };
}

type Clouds = Awaited<ReturnType<typeof startClouds>>;

async function startClouds(models: CloudModels, more: Partial<ConfigInput> = {}) {
  const [aws, vertex] = await Promise.all([startUpstream(), startUpstream()]);
  const gateway = await startGateway({
    config: {
      groups: [{ id: 'default', policy: { retries: 0 } }],
      providers: [
        mainProvider(aws.origin, { dialect: 'bedrock', models: models.aws }),
        mainProvider(vertex.origin + base, { id: 'vertex', dialect: 'vertex', models: models.vertex }),
      ],
      ...more,
    },
    secrets: { 'provider/main/c1': bedrockKey, 'provider/vertex/c1': 'ya29.test' },
  });
  const stop = async () => {
    await gateway.stop();
    await aws.stop();
    await vertex.stop();
  };
  return { aws, vertex, gateway, client: gateway.client, stop };
}

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
