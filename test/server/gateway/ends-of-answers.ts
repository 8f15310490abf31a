/** How providers of each API end their answers, soundly or not, and what clients of each API are told of it. */
import { setTimeout as pause } from 'node:timers/promises';
import type { ConfigInput } from '../../../server/contract/config.ts';
import * as claude from '../../support/strict-anthropic.ts';
import * as converse from '../../support/strict-bedrock.ts';
import { bedrockKey, eventFrame, exceptionFrame } from '../../support/strict-bedrock.ts';
import * as chat from '../../support/strict-chat.ts';
import * as gemini from '../../support/strict-gemini.ts';
import * as responses from '../../support/strict-responses.ts';
import { json, type Script, writePieces } from '../../support/upstream.ts';
import type { Json } from '../apis/translation/translating.ts';

type ProviderInput = NonNullable<ConfigInput['providers']>[number];

/** The pieces of one API's answers. */
export interface Dialect {
  config: Pick<ProviderInput, 'dialect' | 'serves'>;
  secret: string;
  contentType: string;
  begun: readonly Buffer[];
  say(text: string): Buffer;
  /** Says why the answer ends, and that its text does. */
  reason: readonly Buffer[];
  /** What follows the reason. */
  last: readonly Buffer[];
  /** The end of an answer that does not say why it ends. */
  lastWithoutReason: readonly Buffer[];
  error: Buffer;
  whole(text: string): Json;
}

const bytes = (...events: string[]) => events.map((event) => Buffer.from(event));
const sse = (value: unknown) => `data: ${JSON.stringify(value)}\r\n\r\n`;
const frame = (type: string, payload: Json) => eventFrame(type, { ...payload, p: 'abc' });
const events = 'text/event-stream';

const chatUsage = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, choices: [], usage: chat.usage };
const claudeEnd = claude.ending();
const claudeStop = claude.event({ type: 'message_stop' });
const message = { output_index: 0, item_id: 'msg_1', content_index: 0 };

export const dialects = {
  chat: {
    config: { serves: ['chat'] },
    secret: 'k',
    contentType: events,
    begun: bytes(chat.chunk({ role: 'assistant', content: '' })),
    say: (text) => Buffer.from(chat.chunk({ content: text })),
    reason: bytes(chat.chunk({}, 'stop')),
    last: bytes(chat.dataLine(chatUsage), 'data: [DONE]\n\n'),
    lastWithoutReason: bytes('data: [DONE]\n\n'),
    error: Buffer.from(chat.dataLine({ object: 'error', message: 'worker died', type: 'server_error', code: 500 })),
    whole: (text) => chat.completion({ content: text }),
  },
  responses: {
    config: { serves: ['responses'] },
    secret: 'k',
    contentType: events,
    begun: bytes(
      responses.event('response.created', { response: { id: 'resp_1', status: 'in_progress', output: [] } }),
      responses.event('response.output_item.added', {
        output_index: 0,
        item: { ...responses.messageWith(''), status: 'in_progress', content: [] },
      }),
      responses.event('response.content_part.added', {
        ...message,
        part: { type: 'output_text', text: '', annotations: [] },
      }),
    ),
    say: (text) => Buffer.from(responses.event('response.output_text.delta', { ...message, delta: text })),
    reason: bytes(responses.event('response.completed', { response: responses.responseWith([]) })),
    last: [],
    lastWithoutReason: bytes('data: [DONE]\n\n'),
    error: Buffer.from(responses.event('error', { code: 'server_error', message: 'worker died', param: null })),
    whole: (text) => responses.responseWith([responses.messageWith(text)]),
  },
  anthropic: {
    config: { dialect: 'anthropic' },
    secret: claude.anthropicKey,
    contentType: events,
    begun: bytes(
      claude.begun,
      claude.event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ),
    say: (text) =>
      Buffer.from(claude.event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
    reason: bytes(
      claude.event({ type: 'content_block_stop', index: 0 }),
      claudeEnd.slice(0, claudeEnd.indexOf('event: message_stop')),
    ),
    last: bytes(claudeStop),
    lastWithoutReason: bytes(claude.event({ type: 'content_block_stop', index: 0 }), claudeStop),
    error: Buffer.from(claude.event({ type: 'error', error: { type: 'api_error', message: 'worker died' } })),
    whole: (text) => claude.message([claude.text(text)]),
  },
  gemini: {
    config: { dialect: 'gemini' },
    secret: gemini.geminiKey,
    contentType: events,
    begun: [],
    say: (text) => Buffer.from(sse(gemini.generated([{ text }]))),
    reason: bytes(sse(gemini.answered([]))),
    last: [],
    lastWithoutReason: bytes(sse(gemini.generated([], { usageMetadata: gemini.usageMetadata }))),
    error: Buffer.from(sse({ error: { code: 500, message: 'worker died', status: 'INTERNAL' } })),
    whole: (text) => gemini.answered([{ text }]),
  },
  bedrock: {
    config: { dialect: 'bedrock' },
    secret: bedrockKey,
    contentType: 'application/vnd.amazon.eventstream',
    begun: [frame('messageStart', { role: 'assistant' })],
    say: (text) => frame('contentBlockDelta', { contentBlockIndex: 0, delta: { text } }),
    reason: [frame('contentBlockStop', { contentBlockIndex: 0 }), frame('messageStop', { stopReason: 'end_turn' })],
    last: [frame('metadata', { usage: converse.converseUsage, metrics: { latencyMs: 5 } })],
    lastWithoutReason: [
      frame('messageStop', {}),
      frame('metadata', { usage: converse.converseUsage, metrics: { latencyMs: 5 } }),
    ],
    error: exceptionFrame('internalServerException', 'worker died'),
    whole: (text) => converse.answerWith([{ text }]),
  },
} satisfies Record<string, Dialect>;

/** Whose base URL has no path. */
const atRoot = new Set<DialectName>(['anthropic', 'bedrock']);

export function baseUrlOf(name: DialectName, root: string): string {
  if (atRoot.has(name)) return root;
  return name === 'gemini' ? `${root}/v1beta` : `${root}/v1`;
}

export type DialectName = keyof typeof dialects;
export const dialectNames = Object.keys(dialects) as DialectName[];

/** Long enough for several chunks, and no piece of it occurs twice. */
export const pieces = Array.from({ length: 40 }, (_, index) => `piece ${index} of the answer, `);
export const text = pieces.join('');
const half = pieces.slice(0, 20);
export const halfText = half.join('');

/** What becomes of the connection after the last byte. */
type Then = 'end' | 'reset' | 'silence';
type Sending = readonly [bytes: readonly Buffer[], then: Then];

/** How the stream of an answer ends. */
export const streamEnds = {
  soundly: (of) => [[...said(of, pieces), ...of.reason, ...of.last], 'end'],
  'with its last event and without a reason': (of) => [[...said(of, half), ...of.lastWithoutReason], 'end'],
  'with an error after its reason': (of) => [[...said(of, pieces), ...of.reason, of.error], 'end'],
  'with a reset after its reason': (of) => [[...said(of, pieces), ...of.reason], 'reset'],
  'with silence after its reason': (of) => [[...said(of, pieces), ...of.reason], 'silence'],
  'with its connection after its reason': (of) => [[...said(of, pieces), ...of.reason], 'end'],
  'with an error in its text': (of) => [[...said(of, half), of.error], 'end'],
  'with an error in its text, and its last event': (of) => [
    [...said(of, half), of.error, ...of.lastWithoutReason],
    'end',
  ],
  'with a reset in its text': (of) => [said(of, half), 'reset'],
  'with its connection in its text': (of) => [said(of, half), 'end'],
} satisfies Record<string, (of: Dialect) => Sending>;

export type StreamEnd = keyof typeof streamEnds;
export const streamEndNames = Object.keys(streamEnds) as StreamEnd[];

function said({ begun, say }: Dialect, texts: readonly string[]): Buffer[] {
  return [...begun, ...texts.map(say)];
}

export function streamThatEnds(name: DialectName, end: StreamEnd): Script {
  const dialect: Dialect = dialects[name];
  const [sent, then] = streamEnds[end](dialect);
  return async (_request, response) => {
    response.writeHead(200, { 'content-type': dialect.contentType });
    for (const piece of sent) await writePieces(response, piece, []);
    if (then === 'reset') await reset(response);
    else if (then === 'end') response.end();
  };
}

/** After what was written has left: a reset drops what is still under way. */
async function reset(response: Parameters<Script>[1]): Promise<void> {
  await pause(20);
  response.socket?.resetAndDestroy();
}

/** A stream that says more after a reason, as services do that give one with each piece. */
export function streamThatGoesOn(name: 'chat' | 'gemini', pauseMs: number): Script {
  const dialect: Dialect = dialects[name];
  return async (_request, response) => {
    response.writeHead(200, { 'content-type': dialect.contentType });
    await writePieces(response, Buffer.concat([...said(dialect, half), ...dialect.reason]), []);
    await pause(pauseMs);
    const rest = pieces.slice(20).map((piece) => dialect.say(piece));
    response.end(Buffer.concat([...rest, ...dialect.reason, ...dialect.last]));
  };
}

/** How an answer ends that is sent as a whole. */
export const wholeEndNames = [
  'soundly',
  'with a reset in its text',
  'with its connection in its text',
  'with an error',
] as const;
export type WholeEnd = (typeof wholeEndNames)[number];

export function wholeThatEnds(name: DialectName, end: WholeEnd): Script {
  const body = Buffer.from(JSON.stringify(dialects[name].whole(text)));
  return async (_request, response) => {
    if (end === 'soundly') return json(response, dialects[name].whole(text));
    if (end === 'with an error') return json(response, { error: { message: 'worker died', type: 'server_error' } });
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    await writePieces(response, body.subarray(0, body.indexOf('piece 20')), []);
    if (end === 'with a reset in its text') await reset(response);
    else response.socket?.end();
  };
}

/** What a client was told. */
export interface Told {
  text: string;
  /** The reasons of the end, in the words of its API. */
  reasons: string[];
  /** The last event that its API has came. */
  hasEnd: boolean;
  isError: boolean;
  raw: string;
}

export interface Client {
  path(model: string, isStream: boolean): string;
  ask(model: string, isStream: boolean): Json;
  /** Reads one event, or a whole answer. */
  read(value: Json, told: Told): void;
  sound: string;
  /** Its streams end with their connection. */
  endsWithConnection?: true;
}

const question = 'Tell';
const messages = [{ role: 'user', content: question }];
const first = (list: unknown): Json => ((list as Json[] | undefined)?.[0] ?? {}) as Json;
const note = (reasons: string[], reason: unknown) => void (typeof reason === 'string' && reasons.push(reason));
const textsOf = (parts: unknown) => ((parts ?? []) as { text?: string }[]).map((part) => part.text ?? '').join('');

export const clients = {
  chat: {
    path: () => '/v1/chat/completions',
    ask: (model, stream) => ({ model, stream, messages }),
    read({ choices, error }, told) {
      const { delta, message: whole, finish_reason: reason } = first(choices);
      told.isError ||= Boolean(error);
      told.text += String((delta as Json | undefined)?.content ?? (whole as Json | undefined)?.content ?? '');
      note(told.reasons, reason);
    },
    sound: 'stop',
  },
  responses: {
    path: () => '/v1/responses',
    ask: (model, stream) => ({ model, stream, input: question, store: false }),
    read({ type, delta, status, output, error }, told) {
      told.isError ||= Boolean(error) || type === 'error' || type === 'response.failed';
      if (type === 'response.output_text.delta') told.text += String(delta);
      if (type === 'response.completed') note(told.reasons, 'completed');
      told.hasEnd ||= type === 'response.completed';
      if (type !== undefined) return;
      told.text += textsOf((first(output) as { content?: unknown }).content);
      note(told.reasons, status);
    },
    sound: 'completed',
  },
  messages: {
    path: () => '/v1/messages',
    ask: (model, stream) => ({ model, stream, max_tokens: 99, messages }),
    read({ type, delta, content, stop_reason: reason }, told) {
      const { text: added, stop_reason: streamed } = (delta ?? {}) as Json;
      told.isError ||= type === 'error';
      told.hasEnd ||= type === 'message_stop';
      told.text += type === 'message' ? textsOf(content) : String(added ?? '');
      note(told.reasons, reason ?? streamed);
    },
    sound: 'end_turn',
  },
  gemini: {
    path: (model, isStream) =>
      `/v1beta/models/${model}:${isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    ask: () => ({ contents: [{ role: 'user', parts: [{ text: question }] }] }),
    read({ candidates, error }, told) {
      const { content, finishReason } = first(candidates);
      told.isError ||= Boolean(error);
      told.text += textsOf((content as Json | undefined)?.parts);
      note(told.reasons, finishReason);
    },
    sound: 'STOP',
    endsWithConnection: true,
  },
} satisfies Record<string, Client>;

export type ClientName = keyof typeof clients;
export const clientNames = Object.keys(clients) as ClientName[];

/** Reads an answer as its client does, until it ends in any way. */
export async function readAs(name: ClientName, response: Response): Promise<Told> {
  const client: Client = clients[name];
  const told: Told = { text: '', reasons: [], hasEnd: false, isError: !response.ok, raw: '' };
  const decoder = new TextDecoder();
  try {
    for await (const chunk of response.body ?? []) told.raw += decoder.decode(chunk, { stream: true });
  } catch {
    told.isError = true;
  }
  if (!response.headers.get('content-type')?.startsWith(events)) {
    client.read(JSON.parse(told.raw) as Json, told);
    told.hasEnd = true;
    return told;
  }
  for (const event of told.raw.split(/\r?\n\r?\n/)) {
    const data = event
      .split(/\r?\n/)
      .flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trim()] : []))
      .join('');
    if (data === '[DONE]') told.hasEnd = true;
    else if (data !== '') client.read(JSON.parse(data) as Json, told);
  }
  told.hasEnd ||= client.endsWithConnection === true;
  return told;
}

/** The client's own API is the provider's, so that bytes pass unchanged. */
export function isIdentity(client: ClientName, dialect: DialectName): boolean {
  return client === dialect || (client === 'messages' && dialect === 'anthropic');
}
