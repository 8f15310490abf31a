/** The replies of the metered upstream on each route, and the usage that each reply reports. */
import type { ServerResponse } from 'node:http';
import type { Usage } from '../../server/contract/ledger.ts';
import { randomNumbers } from './random-numbers.ts';
import { eventStream, json, type SeenRequest, startUpstream } from './upstream.ts';

// An upstream that keeps its own accounts. Each call is answered with a distinct usage, and the usage that was reported
// to the other side is added up by provider (a lane of its URL), model, key and group. The request's field `user` tells
// the key and the outcome: `key|group|number|course`.

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

/** The outcomes of a request's calls, the first one and later ones. */
export const courses = [
  'well',
  /** The first call ends in an error that costs nothing. */
  'error',
  /** The first three calls do, which is the number of calls made to one target. */
  'outage',
  /** Like `error`, but the error reports usage. */
  'charged-error',
  /** The first call of a stream is cut after some of its text. */
  'cut',
  /** A stream pauses after some of its text until `goOn`, or until the other side disconnects. */
  'pause',
  /** The first call sends nothing until the other side disconnects. */
  'silence',
  /** A complete answer that reports no usage. */
  'untold',
] as const;
export type Course = (typeof courses)[number];

export interface Call {
  path: string;
  text: string;
  provider: string;
  model: string;
  key: string;
  group: string;
  number: number;
  course: Course;
  /** The number of earlier calls of the same request. */
  before: number;
  isStream: boolean;
  random: () => number;
}

export const words = ' the keeper had learned over many winters to tell the weather by the sound of the gulls'.split(
  /(?= )/,
);

/** Reads a field of JSON or of a form. */
export const field = (text: string, name: string) =>
  new RegExp(`"${name}":"([^"]*)"|name="${name}"\\r\\n\\r\\n([^\\r]*)`)
    .exec(text)
    ?.slice(1)
    .find((value) => value !== undefined);

const upTo = (call: Call, most: number) => 1 + Math.floor(call.random() * most);

export function tokens(call: Call): Required<Pick<Usage, 'inputTokens' | 'outputTokens' | 'cachedInputTokens'>> {
  const inputTokens = upTo(call, 900);
  return { inputTokens, outputTokens: upTo(call, 300), cachedInputTokens: Math.floor(call.random() * inputTokens) };
}

export const chatUsageOf = ({ inputTokens = 0, outputTokens = 0, cachedInputTokens = 0 }: Usage) => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
  prompt_tokens_details: { cached_tokens: cachedInputTokens },
});

const responsesUsageOf = ({ inputTokens = 0, outputTokens = 0, cachedInputTokens = 0 }: Usage) => ({
  input_tokens: inputTokens,
  output_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
  input_tokens_details: { cached_tokens: cachedInputTokens },
});

/** A complete reply: its body, and the usage that it reports or that can be derived from the request. */
type Whole = (call: Call) => { body: unknown; usage: Usage };

const chatBody = (call: Call, usage: Usage) => ({
  id: `chatcmpl-${call.number}`,
  object: 'chat.completion',
  created: 1_700_000_000,
  model: call.model,
  choices: [{ index: 0, message: { role: 'assistant', content: words.join('') }, finish_reason: 'stop' }],
  ...(call.course !== 'untold' && { usage: chatUsageOf(usage) }),
});

export const wholes: Record<string, Whole> = {
  '/chat/completions': (call) => {
    const usage = tokens(call);
    return { body: chatBody(call, usage), usage };
  },
  '/completions': (call) => {
    const usage = tokens(call);
    const choices = [{ text: words.join(''), index: 0, finish_reason: 'stop' }];
    return { body: { ...chatBody(call, usage), object: 'text_completion', choices }, usage };
  },
  '/responses': (call) => {
    const usage = tokens(call);
    return { body: responseOf(call, usage), usage };
  },
  '/embeddings': (call) => {
    const inputTokens = upTo(call, 500);
    const data = [{ object: 'embedding', index: 0, embedding: [0.25, 0.5] }];
    const usage = { prompt_tokens: inputTokens, total_tokens: inputTokens };
    return { body: { object: 'list', data, model: call.model, usage }, usage: { inputTokens } };
  },
  '/moderations': (call) => ({ body: { id: 'modr-1', model: call.model, results: [{ flagged: false }] }, usage: {} }),
  '/images/generations': (call) => pictures(call),
  '/images/edits': (call) => pictures(call),
  '/images/variations': (call) => pictures(call),
  '/audio/transcriptions': (call) => {
    const seconds = upTo(call, 90);
    return { body: { text: words.join(''), usage: { type: 'duration', seconds } }, usage: { seconds } };
  },
  '/audio/translations': (call) => {
    const seconds = upTo(call, 90) + 0.5;
    return { body: { language: 'english', duration: seconds, text: words.join(''), segments: [] }, usage: { seconds } };
  },
  '/videos': (call) => {
    const seconds = Number(field(call.text, 'seconds'));
    const body = {
      id: `video_${call.number}`,
      object: 'video',
      model: call.model,
      status: 'queued',
      seconds: `${seconds}`,
    };
    return { body, usage: { seconds } };
  },
};

function pictures(call: Call): ReturnType<Whole> {
  const images = Number(/"n":(\d+)|name="n"\r\n\r\n(\d+)/.exec(call.text)?.slice(1).find(Boolean) ?? 1);
  const { inputTokens, outputTokens } = tokens(call);
  const usage = { input_tokens: inputTokens, output_tokens: outputTokens };
  const body = { created: 1, data: [{ b64_json: 'AAAA' }], usage };
  return { body, usage: { inputTokens, outputTokens, images } };
}

function responseOf(call: Call, used: Usage) {
  const content = [{ type: 'output_text', text: words.join(''), annotations: [] }];
  const output = [{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content }];
  const usage = call.course === 'untold' ? null : responsesUsageOf(used);
  return { id: `resp_${call.number}`, object: 'response', status: 'completed', model: call.model, output, usage };
}

/** A stream: one event for each word, and the final events with the usage. */
interface Stream {
  word(call: Call, text: string): string;
  end(call: Call, usage: Usage): string;
}

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const typed = (value: { type: string } & Record<string, unknown>) => `event: ${value.type}\n${data(value)}`;
const chunk = (call: Call, choices: object[], more: object = {}) =>
  data({
    id: `chatcmpl-${call.number}`,
    object: 'chat.completion.chunk',
    created: 1,
    model: call.model,
    choices,
    ...more,
  });

export const streams: Record<string, Stream> = {
  '/chat/completions': {
    word: (call, content) => chunk(call, [{ index: 0, delta: { content }, finish_reason: null }], { usage: null }),
    end: (call, usage) =>
      chunk(call, [{ index: 0, delta: {}, finish_reason: 'stop' }], { usage: null }) +
      (call.course === 'untold' ? '' : chunk(call, [], { usage: chatUsageOf(usage) })) +
      'data: [DONE]\n\n',
  },
  '/completions': {
    word: (call, text) => chunk(call, [{ index: 0, text, finish_reason: null }], { usage: null }),
    end: (call, usage) =>
      chunk(call, [{ index: 0, text: '', finish_reason: 'stop' }], { usage: null }) +
      (call.course === 'untold' ? '' : chunk(call, [], { usage: chatUsageOf(usage) })) +
      'data: [DONE]\n\n',
  },
  '/responses': {
    word: (_call, delta) => typed({ type: 'response.output_text.delta', delta }),
    end: (call, usage) => {
      return typed({ type: 'response.completed', response: responseOf(call, usage) });
    },
  },
};
