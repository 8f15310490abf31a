/** A provider of a team under load, with a record of its answers and their usage. */
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventStream, json, type ScriptedUpstream, type SeenRequest, startUpstream } from '../support/upstream.ts';

export interface Book {
  /** Requests that generate something. Polling a result is free. */
  requests: number;
  inputTokens: number;
  outputTokens: number;
}

export interface TeamUpstream {
  readonly book: Readonly<Book>;
  readonly baseUrl: string;
  stop: ScriptedUpstream['stop'];
}

/** Long enough for a replica to be stopped in the middle. */
const pieces = 20;
const pieceMs = 50;
const jobMs = 300;

/** The text of each stream. */
export const streamedText = Array.from({ length: pieces }, (_, index) => `${index} `).join('');

export async function startTeamUpstream(): Promise<TeamUpstream> {
  const book: Book = { requests: 0, inputTokens: 0, outputTokens: 0 };
  const jobs = new Map<string, { endsAt: number; usage: object }>();
  const upstream = await startUpstream(async (request, response) => {
    if (request.method === 'GET') return json(response, look(request.url));
    const number = ++book.requests;
    const [input, output] = [1 + (number % 7), 1 + (number % 5)];
    book.inputTokens += input;
    book.outputTokens += output;
    await sleep(20);
    await answer({ request, number, input, output }, response);
  });
  const look = (url: string) => {
    const id = url.slice(url.lastIndexOf('/') + 1);
    const job = jobs.get(id);
    if (!job || performance.now() < job.endsAt) return responseObject(id, 'in_progress', null);
    return responseObject(id, 'completed', job.usage);
  };
  async function answer({ request: { url, body }, number, input, output }: Asked, response: ServerResponse) {
    const usage = { input_tokens: input, output_tokens: output, total_tokens: input + output };
    const chatUsage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
    if (url.includes('/audio/')) {
      return json(response, { text: `${body.length} bytes`, usage: { type: 'tokens', ...usage } });
    }
    if (url.endsWith('/responses')) {
      const id = `resp_${number}`;
      if (!body.includes('"background":true')) return json(response, responseObject(id, 'completed', usage));
      jobs.set(id, { endsAt: performance.now() + jobMs, usage });
      return json(response, responseObject(id, 'queued', null));
    }
    if (body.includes('"stream":true')) return stream(response, chatUsage);
    const message = { role: 'assistant', content: 'Hi' };
    json(response, { ...chat, choices: [{ index: 0, finish_reason: 'stop', message }], usage: chatUsage });
  }
  return { book, baseUrl: upstream.baseUrl, stop: () => upstream.stop() };
}

interface Asked {
  request: SeenRequest;
  number: number;
  input: number;
  output: number;
}

const chat = { id: 'chatcmpl-1', object: 'chat.completion', model: 'any' };

function responseObject(id: string, status: string, usage: object | null): object {
  return { id, object: 'response', status, model: 'any', output: [], usage };
}

async function stream(response: ServerResponse, usage: object): Promise<void> {
  const event = (more: object) => `data: ${JSON.stringify({ ...chat, object: 'chat.completion.chunk', ...more })}\n\n`;
  eventStream(response);
  for (let piece = 0; piece < pieces; piece++) {
    response.write(event({ choices: [{ index: 0, delta: { content: `${piece} ` }, finish_reason: null }] }));
    await sleep(pieceMs);
  }
  response.write(event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }));
  response.end(`${event({ choices: [], usage })}data: [DONE]\n\n`);
}
