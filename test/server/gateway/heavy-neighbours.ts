/**
 * Two programs with a provider of each API, one of which gets requests and answers of the worst kind while a second client asks
 * both for plain chats.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { UpstreamWire } from '../../../server/contract/operations.ts';
import { hashOf, testKey } from '../../support/gateway.ts';
import { checkout, type RunningProgram, readyOf, startProgram } from '../../support/program.ts';
import { type SecondClient, startSecondClient } from '../../support/second-client.ts';
import { temporaryFolder } from '../store/sqlite/records.ts';

/** What the provider of the heavy requests answers. */
export interface HeavyAnswer {
  type: 'application/json' | 'text/event-stream';
  body: Buffer | string;
}

export interface HeavyOutcome {
  status: number;
  /** The length of the answer. */
  bytes: number;
  /** The end of the answer. */
  tail: string;
  ms: number;
}

const providers: Record<UpstreamWire, { config: object; path: string }> = {
  'openai-chat': { config: { serves: ['chat'] }, path: '/v1' },
  'openai-responses': { config: { serves: ['responses'] }, path: '/v1' },
  'anthropic-messages': { config: { dialect: 'anthropic' }, path: '' },
  'gemini-generate': { config: { dialect: 'gemini' }, path: '/v1beta' },
  'bedrock-converse': { config: { dialect: 'bedrock' }, path: '' },
};

const mostRuns = 5;

export class HeavyNeighbours {
  answer: HeavyAnswer = { type: 'application/json', body: '{}' };
  /** How many bytes the provider of heavy requests got last. */
  sentBytes = 0;
  readonly #folder = temporaryFolder();
  readonly #programs: RunningProgram[] = [];
  readonly #baseUrls: string[] = [];
  readonly #upstream = http.createServer((request, response) => {
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    request.on('end', () => {
      this.sentBytes = bytes;
      response.writeHead(200, { 'content-type': this.answer.type }).end(this.answer.body);
    });
    response.on('error', () => {});
  });
  #second: SecondClient | undefined;

  /** @param program that which runs: the sources or what was built of them */
  async start(program = join(checkout, 'server/cli.ts'), nodeOptions = ''): Promise<void> {
    await new Promise<void>((resolve) => this.#upstream.listen(0, '127.0.0.1', resolve));
    this.#second = await startSecondClient();
    const origin = `http://127.0.0.1:${(this.#upstream.address() as AddressInfo).port}`;
    const heavy = Object.entries(providers).map(([id, { config, path }]) => ({
      id,
      baseUrl: `${origin}${path}`,
      models: [`of-${id}`],
      ...config,
    }));
    const config = {
      version: 1,
      providers: [{ id: 'plain', baseUrl: this.#second.providerUrl, models: ['plain'] }, ...heavy],
      groups: [{ id: 'default', policy: { retries: 0 } }],
      keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey) }],
    };
    const file = join(this.#folder, 'sluice.json');
    writeFileSync(file, JSON.stringify(config));
    for (const name of ['gateway', 'witness']) {
      const parameters = ['serve', '--config', file, '--port', '0', '--json', '--data-dir', join(this.#folder, name)];
      const running = startProgram(parameters, { program, env: { NODE_OPTIONS: nodeOptions } });
      this.#programs.push(running);
      this.#baseUrls.push(`${new URL((await readyOf(running)).baseUrl).origin}`);
    }
    await this.longestWaitDuring(() => new Promise((resolve) => setTimeout(resolve, 500)));
  }

  async stop(): Promise<void> {
    for (const { child, ended } of this.#programs) {
      child.kill('SIGKILL');
      await ended;
    }
    await this.#second?.stop();
    this.#upstream.closeAllConnections();
    this.#upstream.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #program(): RunningProgram {
    const [program] = this.#programs;
    if (!program) throw new Error('Nothing runs yet.');
    return program;
  }

  /** Of the gateway's process. */
  rssBytes(): number {
    const status = readFileSync(`/proc/${this.#program.child.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
  }

  /** What a second client waits at most meanwhile, beyond what it waits at the witness. In milliseconds. */
  async longestWaitDuring(work: () => Promise<unknown>): Promise<number> {
    const [gateway = '', witness = ''] = this.#baseUrls.map((each) => `${each}/v1`);
    this.#second?.begin({ gateway, witness, key: testKey });
    await work();
    return (await this.#second?.longestWait()) ?? Number.NaN;
  }

  /** The same in the best of a few runs: what holds others up does so in each, what else the machine does in some. */
  async leastWaitDuring(work: () => Promise<unknown>, enoughMs: number): Promise<number> {
    let leastMs = Number.POSITIVE_INFINITY;
    for (let run = 0; run < mostRuns && leastMs >= enoughMs; run++) {
      leastMs = Math.min(leastMs, await this.longestWaitDuring(work));
    }
    return leastMs;
  }

  ask(path: string, body: Buffer | string): Promise<HeavyOutcome> {
    const from = performance.now();
    const url = `${this.#baseUrls[0]}${path}`;
    const headers = { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' };
    return new Promise((resolve, reject) => {
      const request = http.request(url, { method: 'POST', headers, agent: false }, (response) => {
        let bytes = 0;
        let last: Buffer = Buffer.alloc(0);
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          last = chunk;
        });
        response.on('error', reject);
        response.on('end', () => {
          const tail = last.toString('latin1').slice(-1_000);
          resolve({ status: response.statusCode ?? 0, bytes, tail, ms: performance.now() - from });
        });
      });
      request.on('error', reject);
      request.end(body);
    });
  }
}
