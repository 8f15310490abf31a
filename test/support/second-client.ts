/**
 * A client that asks two gateways for a plain chat, again and again, from a thread of its own with a provider of its own: what
 * it waits at one of them beyond the other, the witness, is what others do to it there.
 */
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { performance } from 'node:perf_hooks';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

export interface AskedGateways {
  /** Base URLs, with `/v1`. */
  gateway: string;
  witness: string;
  key: string;
}

export interface SecondClient {
  /** Base URL of the provider that answers plain chats. */
  readonly providerUrl: string;
  begin(asked: AskedGateways): void;
  /** Ends the asking. Returns the longest wait in milliseconds, less what the witness took meanwhile. */
  longestWait(): Promise<number>;
  stop(): Promise<void>;
}

type Order = { kind: 'begin'; asked: AskedGateways } | { kind: 'end' };

export async function startSecondClient(): Promise<SecondClient> {
  const thread = new Worker(new URL(import.meta.url));
  const said = async <T>(order?: Order): Promise<T> => {
    const answer = once(thread, 'message') as Promise<[T]>;
    if (order) thread.postMessage(order);
    return (await answer)[0];
  };
  const providerUrl = await said<string>();
  return {
    providerUrl,
    begin: (asked) => thread.postMessage({ kind: 'begin', asked } satisfies Order),
    longestWait: () => said<number>({ kind: 'end' }),
    async stop() {
      await thread.terminate();
    },
  };
}

const plain = JSON.stringify({ model: 'plain', messages: [{ role: 'user', content: 'Hi' }] });
const answered = JSON.stringify({
  id: 'a',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
});
/** The next request follows so much later. */
const pauseMs = 2;

async function serve(port: NonNullable<typeof parentPort>): Promise<void> {
  const provider = http.createServer((request, response) => {
    request.resume();
    request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end(answered));
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  port.postMessage(`http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`);
  let asking: { isOver: boolean; waits: Promise<number> } | undefined;
  port.on('message', (order: Order) => {
    if (order.kind === 'begin') {
      const run = { isOver: false, waits: Promise.resolve(0) };
      run.waits = longestOf(order.asked, run);
      asking = run;
    } else if (asking) {
      asking.isOver = true;
      void asking.waits.then((waited) => port.postMessage(waited));
    }
  });
}

async function longestOf({ gateway, witness, key }: AskedGateways, run: { isOver: boolean }): Promise<number> {
  const agents = [gateway, witness].map((baseUrl) => ({ baseUrl, agent: new http.Agent({ keepAlive: true }) }));
  let longest = 0;
  while (!run.isOver) {
    const [here = 0, there = 0] = await Promise.all(agents.map((each) => ask({ ...each, key })));
    longest = Math.max(longest, here - there);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  for (const { agent } of agents) agent.destroy();
  return longest;
}

function ask({ baseUrl, agent, key }: { baseUrl: string; agent: http.Agent; key: string }): Promise<number> {
  const from = performance.now();
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const request = http.request(`${baseUrl}/chat/completions`, { method: 'POST', agent, headers }, (response) => {
      response.resume();
      response.on('end', () =>
        response.statusCode === 200
          ? resolve(performance.now() - from)
          : reject(new Error(`a plain chat was answered with ${response.statusCode}`)),
      );
    });
    request.on('error', reject);
    request.end(plain);
  });
}

if (!isMainThread && parentPort) await serve(parentPort);
