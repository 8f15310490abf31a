/**
 * An upstream that keeps its own accounts. Each call is answered with a distinct usage, and the usage that was reported
 * to the other side is added up by provider (a lane of its URL), model, key and group. The request's field `user` tells
 * the key and the outcome: `key|group|number|course`.
 */
import type { ServerResponse } from 'node:http';
import type { Usage } from '../../server/contract/ledger.ts';
import {
  type Call,
  type Course,
  chatUsageOf,
  courses,
  field,
  streams,
  tokens,
  wholes,
  words,
} from './metered-replies.ts';
import { randomNumbers } from './random-numbers.ts';
import { eventStream, json, type SeenRequest, startUpstream } from './upstream.ts';

export interface Tally {
  calls: number;
  inputTokens: number;
  outputTokens: number;
  cachedInputTokens: number;
  seconds: number;
  characters: number;
  images: number;
}

export type By = 'provider' | 'model' | 'key' | 'group';

export interface MeteredUpstream {
  origin: string;
  /** The usage reported in complete replies. */
  told: Record<By, Map<string, Tally>>;
  /** Pieces of text, one token each, in streams whose reader disconnected before the usage. */
  untoldPieces: number;
  /** Resumes the paused stream of this request. */
  goOn(request: number): void;
  stop(): Promise<void>;
}

const emptyTally = (): Tally => ({
  calls: 0,
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  seconds: 0,
  characters: 0,
  images: 0,
});

export function addTo(tallies: Map<string, Tally>, name: string, usage: Usage): void {
  const tally = tallies.get(name) ?? emptyTally();
  tally.calls += 1;
  for (const quantity of [
    'inputTokens',
    'outputTokens',
    'cachedInputTokens',
    'seconds',
    'characters',
    'images',
  ] as const) {
    tally[quantity] += usage[quantity] ?? 0;
  }
  tallies.set(name, tally);
}

export async function startMeteredUpstream(): Promise<MeteredUpstream> {
  const told = {
    provider: new Map(),
    model: new Map(),
    key: new Map(),
    group: new Map(),
  } satisfies MeteredUpstream['told'];
  const calls = new Map<number, number>();
  const continuing = new Map<number, PromiseWithResolvers<void>>();
  const paused = (number: number) => {
    const waiting = continuing.get(number) ?? Promise.withResolvers<void>();
    continuing.set(number, waiting);
    return waiting;
  };
  const meter = {
    tell(call: Call, usage: Usage) {
      for (const by of ['provider', 'model', 'key', 'group'] as const) addTo(told[by], call[by], usage);
    },
    untoldPieces: 0,
    pause: (call: Call, response: ServerResponse) =>
      Promise.race([paused(call.number).promise, new Promise((resolve) => response.once('close', resolve))]),
  };
  const upstream = await startUpstream((request, response) => {
    const call = readCall(request, calls);
    if (call) return answer(call, response, meter);
    json(response, { error: { message: `No call can be read from ${request.url}.` } }, 418);
  });
  return {
    origin: upstream.origin,
    told,
    get untoldPieces() {
      return meter.untoldPieces;
    },
    goOn: (number) => paused(number).resolve(),
    stop: () => upstream.stop(),
  };
}

interface Meter {
  tell(call: Call, usage: Usage): void;
  untoldPieces: number;
  pause(call: Call, response: ServerResponse): Promise<unknown>;
}

function readCall(request: SeenRequest, calls: Map<number, number>): Call | null {
  const text = request.body.toString('latin1');
  const [, provider, path] = /^\/([^/]+)\/v1(.*)$/.exec(request.url) ?? [];
  const user = field(text, 'user')?.split('|');
  const model = field(text, 'model');
  if (!provider || !path || !user || !model) return null;
  const [key = '', group = '', number = '', wanted] = user;
  const course = courses.find((known) => known === wanted);
  if (!course) return null;
  const id = Number(number);
  const before = calls.get(id) ?? 0;
  calls.set(id, before + 1);
  const isStream = /"stream":true|name="stream"\r\n\r\ntrue|"stream_format":"sse"/.test(text);
  const random = randomNumbers(id * 31 + before);
  return { path, text, provider, model, key, group, number: id, course, before, isStream, random };
}

async function answer(call: Call, response: ServerResponse, meter: Meter): Promise<void> {
  const { course, before } = call;
  if (course === 'silence' && before === 0) {
    await meter.pause(call, response);
    return;
  }
  if (before < (failures[course] ?? 0)) {
    refuse(call, response, meter);
    return;
  }
  if (call.isStream && streams[call.path]) await answerStream(call, response, meter);
  else answerWhole(call, response, meter);
}

/** The number of calls of a request that fail. */
const failures: Partial<Record<Course, number>> = { error: 1, 'charged-error': 1, outage: 3 };

function refuse(call: Call, response: ServerResponse, meter: Meter): void {
  const error = { message: 'The server had an error.', type: 'server_error', code: null };
  if (call.course !== 'charged-error') {
    json(response, { error }, 500);
    return;
  }
  const usage = tokens(call);
  meter.tell(call, usage);
  json(response, { error, usage: chatUsageOf(usage) }, 500);
}

function answerWhole(call: Call, response: ServerResponse, meter: Meter): void {
  if (call.path === '/audio/speech') {
    meter.tell(call, { characters: [...(field(call.text, 'input') ?? '')].length });
    response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(Buffer.alloc(2_000, 7));
    return;
  }
  const whole = wholes[call.path]?.(call);
  if (!whole) {
    json(response, { error: { message: `Nothing is known of ${call.path}.` } }, 418);
    return;
  }
  if (call.course === 'untold') meter.untoldPieces += words.length;
  else meter.tell(call, whole.usage);
  json(response, whole.body);
}

async function answerStream(call: Call, response: ServerResponse, meter: Meter): Promise<void> {
  const stream = streams[call.path];
  if (!stream) throw new Error('unreachable');
  eventStream(response);
  const half = Math.floor(words.length / 2);
  const isUpset = call.before === 0 && (call.course === 'cut' || call.course === 'pause');
  const pieces = isUpset ? words.slice(0, half) : words;
  const begun = pieces.map((text) => stream.word(call, text)).join('');
  if (isUpset && call.course === 'cut') {
    meter.untoldPieces += half;
    response.write(begun, () => setImmediate(() => response.destroy()));
    return;
  }
  response.write(begun);
  if (isUpset) {
    await meter.pause(call, response);
    if (response.destroyed) {
      meter.untoldPieces += half;
      return;
    }
    response.write(
      words
        .slice(half)
        .map((text) => stream.word(call, text))
        .join(''),
    );
  }
  const usage = tokens(call);
  if (call.course === 'untold') meter.untoldPieces += words.length;
  else meter.tell(call, usage);
  response.end(stream.end(call, usage));
}
