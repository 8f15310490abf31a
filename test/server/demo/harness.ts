/** A demo provider on a free port, OpenAI's own client connected to it, and a clock that the test controls. */
import OpenAI from 'openai';
import { type DemoServer, startDemoServer } from '../../../server/demo/demo-server.ts';

export interface DemoHarness {
  demo: DemoServer;
  client: OpenAI;
  /** Advances the demo's clock. */
  advance(milliseconds: number): void;
  /** Sends a request without the client. The path is below `/v1`; an object becomes a JSON body. */
  request(method: string, path: string, body?: object, headers?: Record<string, string>): Promise<Response>;
}

export async function startHarness(): Promise<DemoHarness> {
  let nowMs = Date.UTC(2026, 0, 1);
  const demo = await startDemoServer({ videoSeconds: 4, now: () => nowMs });
  const client = new OpenAI({ baseURL: demo.baseUrl, apiKey: demo.secret, maxRetries: 0 });
  return {
    demo,
    client,
    advance: (milliseconds) => {
      nowMs += milliseconds;
    },
    request: (method, path, body, headers = {}) =>
      fetch(demo.baseUrl + path, {
        method,
        headers: { authorization: `Bearer ${demo.secret}`, 'content-type': 'application/json', ...headers },
        ...(body && { body: JSON.stringify(body) }),
      }),
  };
}

/** The contents of a stream's `data:` lines, in order. */
export async function dataLines(response: Response): Promise<string[]> {
  const body = await response.text();
  return body.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []));
}

export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
