/** A tiny provider of chat completions on this machine: every request gets the same answer, as a stream or whole. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { isObject } from '../contract/is-object.ts';

interface JudgeUpstream {
  /** Includes `/v1`. */
  baseUrl: string;
  close(): void;
}

const words = ['This ', 'is ', 'the ', 'answer ', 'of ', 'the ', 'built-in ', 'provider.'];
const usage = { prompt_tokens: 10, completion_tokens: words.length, total_tokens: 10 + words.length };

export async function startJudgeUpstream(): Promise<JudgeUpstream> {
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the built-in provider has no address');
  return {
    baseUrl: `http://127.0.0.1:${address.port}/v1`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body: unknown = await json(request);
  const { model = 'judge', stream } = isObject(body) ? body : {};
  const head = { id: 'chatcmpl-judge', created: 0, model };
  if (stream !== true) {
    const message = { role: 'assistant', content: words.join('') };
    const whole = {
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage,
    };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(whole));
    return;
  }
  const event = (value: object) =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...value })}\n\n`;
  const chunk = (delta: object, finish: string | null = null) =>
    event({ choices: [{ index: 0, delta, finish_reason: finish }] });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const events = [chunk({ role: 'assistant', content: '' }), ...words.map((content) => chunk({ content }))];
  response.end([...events, chunk({}, 'stop'), event({ choices: [], usage }), 'data: [DONE]\n\n'].join(''));
}
