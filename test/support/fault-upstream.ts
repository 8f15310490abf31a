/**
 * An upstream on real sockets that misbehaves as scripted. One server has many lanes. Each lane is a separate provider
 * with its own base URL, so that hundreds of cases can run in parallel. A lane plays its list in order, repeats the
 * last entry, and records the calls. The plays are in `fault-plays.ts`.
 */

import type { ServerResponse } from 'node:http';
import { answerTo, type OpenAiCall, type WholeAnswer } from './openai-calls.ts';
import { json, type SeenRequest, startUpstream } from './upstream.ts';

// Classifies an answer as its caller would: complete, an explicit error, or neither.

export interface Received {
  status: number;
  /** Everything that was received, even if the connection broke. */
  body: Buffer;
  isBroken: boolean;
}

/** Reads an answer until it ends in any way. */
export async function receive(response: Response): Promise<Received> {
  const { status } = response;
  const pieces: Uint8Array[] = [];
  try {
    for await (const piece of response.body ?? []) pieces.push(piece);
    return { status, body: Buffer.concat(pieces), isBroken: false };
  } catch {
    return { status, body: Buffer.concat(pieces), isBroken: true };
  }
}

/**
 * Whether the answer is complete and correct. A call without an interruption must match byte for byte; a stream may
 * also match as an SDK assembles it.
 */
export function isWhole(call: OpenAiCall, { status, body, isBroken }: Received): boolean {
  if (status !== 200 || isBroken) return false;
  if (body.equals(call.answer.bytes)) return true;
  if (call.kind !== 'stream') return false;
  const got = readStream(body.toString());
  const right = readStream(call.answer.bytes.toString());
  return got.error === null && got.isComplete && got.content === right.content && got.finishes === right.finishes;
}

/**
 * Whether the caller cannot mistake it for a success: an error status, an error event, or a connection that visibly
 * breaks.
 */
export function isHonestFailure(call: OpenAiCall, { status, body, isBroken }: Received): boolean {
  if (status >= 400) return true;
  return isBroken || (call.kind === 'stream' && readStream(body.toString()).error !== null);
}

interface StreamRead {
  /** All pieces of content, joined. */
  content: string;
  /** How often the stream reported its end. A stream assembled from two must not report it twice. */
  finishes: number;
  isComplete: boolean;
  error: unknown;
}

const terminalTypes =
  /^(response\.(completed|incomplete)|image_\w+\.completed|transcript\.text\.done|speech\.audio\.done)$/;

/** Parses like both SDKs: events are separated by blank lines, and `data` is JSON. Throws if it is not. */
export function readStream(text: string): StreamRead {
  const read: StreamRead = { content: '', finishes: 0, isComplete: false, error: null };
  for (const event of text.split(/\r?\n\r?\n/)) {
    const lines = event.split(/\r?\n/).filter((line) => line.startsWith('data:'));
    if (lines.length === 0) continue;
    const data = lines.map((line) => line.slice('data:'.length).trim()).join('\n');
    if (data === '[DONE]') read.isComplete = true;
    else take(read, JSON.parse(data));
  }
  return read;
}

interface AnyEvent {
  type?: string;
  error?: unknown;
  delta?: string;
  audio?: string;
  b64_json?: string;
  choices?: { text?: string; delta?: { content?: string | null }; finish_reason?: string | null }[];
}

function take(read: StreamRead, event: AnyEvent): void {
  if (event.error || event.type === 'error' || event.type === 'response.failed') read.error ??= event;
  for (const { text, delta, finish_reason } of event.choices ?? []) {
    read.content += text ?? delta?.content ?? '';
    if (finish_reason) read.finishes++;
  }
  read.content += event.delta ?? event.audio ?? event.b64_json ?? '';
  if (terminalTypes.test(event.type ?? '')) {
    read.finishes++;
    read.isComplete = true;
  }
  // A chat stream without `[DONE]` is complete once every choice has a finish reason.
  if (read.finishes > 0 && event.choices) read.isComplete = true;
}

/** One call that reached a lane. */
export interface SeenCall extends SeenRequest {
  /** When its last byte arrived, in monotonic milliseconds. */
  atMs: number;
  /** The name of the play. */
  played: string;
  /** `gone`: the other side closed the connection before the reply was complete. */
  state: 'open' | 'answered' | 'broken' | 'gone';
}

export interface Scene {
  call: SeenCall;
  response: ServerResponse;
  /** The answer of a healthy upstream. */
  answer: WholeAnswer;
  /** Aborted once either side has closed the connection. */
  closed: AbortSignal;
}

/** Whether the upstream refuses before the work by playing this, so that nothing can have been made. */
export function refusesBeforeWork(name: string): boolean {
  return /^(?:4(?!08|09)\d\d|503|529|an error (?:inside 200|as the first event)|refuses the connection)\b/.test(name);
}

export interface Play {
  name: string;
  /** The fault is only detected by a timeout, so tests of it set short limits. */
  isSlow?: true;
  /** May leave the reply open. The connection then ends with the other side or with the server. */
  act(scene: Scene): void | Promise<void>;
}

export interface Lane {
  /** Includes `/v1`. */
  readonly baseUrl: string;
  readonly seen: readonly SeenCall[];
  /** Sets the plays from the next call on; the last one is repeated. */
  plays(...plays: readonly [Play, ...Play[]]): void;
  /** Clears the recorded calls, and starts the list of plays from the beginning. */
  forget(): void;
}

export interface FaultUpstream {
  readonly origin: string;
  /** The lane with this name, healthy at first. The same name returns the same lane. */
  lane(name: string): Lane;
  stop(): Promise<void>;
}

export const healthy: Play = { name: 'healthy', act: ({ response, answer }) => sendWhole(response, answer) };

export function sendWhole(response: ServerResponse, { contentType, bytes, events }: WholeAnswer): void {
  // Like real upstreams: a stream is chunked, other answers have a length.
  const length = events ? {} : { 'content-length': bytes.length };
  response.writeHead(200, { 'content-type': contentType, ...length }).end(bytes);
}

export async function startFaultUpstream(): Promise<FaultUpstream> {
  const lanes = new Map<string, OpenLane>();
  const upstream = await startUpstream((request, response) => {
    const [, name = '', path = ''] = /^\/([^/]+)\/v1(.*)$/.exec(request.url) ?? [];
    const lane = lanes.get(name);
    const answer = answerTo(request, path);
    if (lane && answer) return lane.take(request, response, answer);
    json(response, { error: { message: `Nothing is scripted for ${request.method} ${request.url}.` } }, 418);
  });
  return {
    origin: upstream.origin,
    lane(name) {
      const lane = lanes.get(name) ?? new OpenLane(`${upstream.origin}/${name}/v1`);
      lanes.set(name, lane);
      return lane;
    },
    stop: () => upstream.stop(),
  };
}

class OpenLane implements Lane {
  readonly baseUrl: string;
  readonly seen: SeenCall[] = [];
  #plays: readonly Play[] = [healthy];
  #from = 0;

  constructor(baseUrl: string) {
    this.baseUrl = baseUrl;
  }

  plays(...plays: readonly [Play, ...Play[]]): void {
    this.#plays = plays;
    this.#from = this.seen.length;
  }

  forget(): void {
    this.seen.length = 0;
    this.#from = 0;
  }

  async take(request: SeenRequest, response: ServerResponse, answer: WholeAnswer): Promise<void> {
    const play = this.#plays[this.seen.length - this.#from] ?? this.#plays.at(-1) ?? healthy;
    const call: SeenCall = { ...request, atMs: performance.now(), played: play.name, state: 'open' };
    this.seen.push(call);
    const closed = new AbortController();
    response.on('close', () => {
      if (response.writableFinished) call.state = 'answered';
      else if (call.state === 'open') call.state = 'gone';
      closed.abort();
    });
    await play.act({ call, response, answer, closed: closed.signal });
  }
}
