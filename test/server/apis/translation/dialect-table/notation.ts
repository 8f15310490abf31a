/** The notation of each API for the subjects of the table of dialects: requests, answers and streams. */
import { anthropicRoutes } from '../../../../../server/apis/anthropic/routes.ts';
import { readError } from '../../../../../server/apis/core/errors/error-body.ts';
import { geminiRoutes } from '../../../../../server/apis/gemini/routes.ts';
import type { UpstreamWireName, WireName } from '../../../../../server/apis/neutral/conversation.ts';
import type { Fate, Loss } from '../../../../../server/apis/neutral/losses.ts';
import { openaiRoutes } from '../../../../../server/apis/openai/routes.ts';
import { CountTranslator, isCountingWire } from '../../../../../server/apis/translation/count-translator.ts';
import {
  createTranslator,
  estimateRequestTokens,
  type TranslatedRequest,
  type Translator,
} from '../../../../../server/apis/translation/translator.ts';
import { GatewayError } from '../../../../../server/contract/errors.ts';
import { type LossCode, lossCodes } from '../../../../../server/contract/loss-codes.ts';
import * as anthropic from '../../../../support/strict-anthropic.ts';
import * as converse from '../../../../support/strict-bedrock.ts';
import * as chat from '../../../../support/strict-chat.ts';
import * as gemini from '../../../../support/strict-gemini.ts';
import * as responses from '../../../../support/strict-responses.ts';
import { complaintsOf } from '../strict-upstreams.ts';
import { answered, dataOf, type Json, moment, streamed, streamOf, targetOf } from '../translating.ts';
import type { Row } from './table.ts';

// The cells of the table of dialects, determined by observation. Each case is sent in the client's notation and
// searched for in what the provider receives; the provider's answer is searched for in what the client receives. What
// is not found must be reported as a loss.

export interface Upstream {
  wire: UpstreamWireName;
  /** What the provider's API accepts depends on the model. */
  model: string;
}

/** `lost`: neither carried nor reported, which is a defect. */
export type Word = Fate | 'as is' | 'none' | 'lost';

export interface Cell {
  word: Word;
  /** Why it is not carried. */
  codes: LossCode[];
  /** Defects of the translation. */
  defects: string[];
}

const asIs: Cell = { word: 'as is', codes: [], defects: [] };
/** From best to worst. A cell is as good as its worst case. */
const words: readonly Word[] = ['as is', 'none', 'carried', 'emulated', 'dropped', 'refused', 'lost'];

export function cellOf({ cases, mark }: Row, client: WireName, upstream: Upstream): Cell {
  const translator = createTranslator(client, upstream.wire);
  if (translator === null) return asIs;
  const cells = cases.map((sides) => new Trial(translator, upstream, mark).observe(sides, client));
  const worst = Math.max(...cells.map(({ word }) => words.indexOf(word)));
  return {
    word: words[worst] ?? 'lost',
    codes: [...new Set(cells.flatMap(({ codes }) => codes))],
    defects: cells.flatMap(({ defects }) => defects),
  };
}

/** One case between two APIs. */
class Trial {
  readonly #translator: Translator;
  readonly #upstream: Upstream;
  readonly #mark: string;
  readonly #losses: Loss[] = [];
  readonly #missing: string[] = [];
  readonly #defects: string[] = [];

  constructor(translator: Translator, upstream: Upstream, mark = '') {
    this.#translator = translator;
    this.#upstream = upstream;
    this.#mark = mark;
  }

  observe(sides: Case, client: WireName): Cell {
    const asking = sides[client];
    const serving = sides[this.#upstream.wire];
    const isNeverSaid = asking.hears !== undefined && asking.gets?.length === 0 && serving.says === undefined;
    if (asking.asks === null || isNeverSaid) return { word: 'none', codes: [], defects: [] };
    try {
      this.#converse(asking, serving, { ...hello[client], ...asking.asks });
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      const codes = codesIn(error.message);
      return { word: 'refused', codes, defects: codes.length === 0 ? [error.message] : [] };
    }
    return this.#judge();
  }

  #converse({ hears, continues }: Side, { gets, says }: Side, request: Json): void {
    const asked = this.#ask(request);
    if (isFailure(says)) {
      const { status, body } = this.#translator.error({
        status: says.status,
        ...readError(Buffer.from(JSON.stringify(says.body))),
      });
      this.#lookFor(hears, { status, body: JSON.parse(body.toString()) });
      return;
    }
    const told = says === undefined ? undefined : this.#answer(asked, says);
    if (!continues) {
      this.#losses.push(...asked.losses);
      this.#lookFor(gets, JSON.parse(asked.body.toString()));
      this.#lookFor(hears, told);
      return;
    }
    const again = this.#ask({ ...request, ...continues(told as Json) });
    this.#losses.push(...again.losses);
    this.#lookFor(gets, JSON.parse(again.body.toString()));
  }

  #ask(request: Json): TranslatedRequest {
    const { wire, model } = this.#upstream;
    const read = this.#translator.read(Buffer.from(JSON.stringify(request)));
    const asked = this.#translator.request(read, targetOf(model));
    const body = JSON.parse(asked.body.toString());
    this.#defects.push(...complaintsOf(wire, body));
    if (!asked.body.includes(this.#mark)) this.#defects.push(`${this.#mark} is missing`);
    return asked;
  }

  #answer(asked: TranslatedRequest, says: Json | Buffer): unknown {
    if (Buffer.isBuffer(says)) return dataOf(streamed(asked, [says]));
    const whole = asked.whole(Buffer.from(JSON.stringify(says)), moment);
    if (whole?.ok) this.#losses.push(...whole.losses);
    return answered(asked, says);
  }

  #lookFor(fragments: readonly unknown[] | null | undefined, value: unknown): void {
    if (fragments === null) this.#missing.push('what the API has no field for');
    for (const fragment of fragments ?? [])
      if (!holds(value, fragment)) this.#missing.push(`${JSON.stringify(fragment)} in ${JSON.stringify(value)}`);
  }

  #judge(): Cell {
    const told = this.#losses.filter(({ fate }) => fate !== 'carried');
    const codes = [...new Set(told.map(({ code }) => code))];
    const isDropped = told.some(({ fate }) => fate === 'dropped');
    if (told.length > 0) return { word: isDropped ? 'dropped' : 'emulated', codes, defects: this.#defects };
    if (this.#missing.length === 0) return { word: 'carried', codes, defects: this.#defects };
    return { word: 'lost', codes, defects: [...this.#defects, ...this.#missing] };
  }
}

function isFailure(says: Side['says']): says is Failure {
  return says !== undefined && 'status' in says && typeof says.status === 'number';
}

/** Whether the fragment occurs anywhere in the value. An object in the fragment may have fewer members. */
function holds(value: unknown, fragment: unknown): boolean {
  if (isLike(value, fragment)) return true;
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((member) => holds(member, fragment));
}

function isLike(value: unknown, fragment: unknown): boolean {
  if (typeof fragment !== 'object' || fragment === null) return value === fragment;
  if (typeof value !== 'object' || value === null || Array.isArray(value) !== Array.isArray(fragment)) return false;
  if (Array.isArray(fragment) && fragment.length !== (value as unknown[]).length) return false;
  return Object.entries(fragment).every(([name, member]) => isLike((value as Json)[name], member));
}

function codesIn(message: string): LossCode[] {
  const codes = Object.keys(lossCodes) as LossCode[];
  return codes.filter((code) => message.includes(lossCodes[code]));
}

const countingPaths: Record<WireName, string | null> = {
  'openai-chat': null,
  'openai-responses': '/responses/input_tokens',
  'anthropic-messages': '/messages/count_tokens',
  'gemini-generate': '/models/{model}:countTokens',
};

/** If no provider can count, Sluice estimates, for the routes that it supports. */
export function countingCell(client: WireName, upstream: Upstream): Cell {
  if (countingPaths[client] === null) return { word: 'none', codes: [], defects: [] };
  if (client === upstream.wire) return asIs;
  const route = [...openaiRoutes, ...anthropicRoutes, ...geminiRoutes].find(
    ({ path }) => path === countingPaths[client],
  );
  if (!route?.writeTokenCount) return { word: 'refused', codes: [], defects: [] };
  const body = Buffer.from(JSON.stringify(hello[client]));
  if (isCountingWire(upstream.wire))
    return carriedCount(new CountTranslator(client, upstream.wire, route.writeTokenCount), body);
  const counted = route.writeTokenCount(estimateRequestTokens(client, body));
  const isCount = Object.values(counted).some((count) => count >= 2 && count < 50);
  return { word: 'emulated', codes: [], defects: isCount ? [] : [JSON.stringify(counted)] };
}

/** Checks that the request reaches the provider, and its count the client. */
function carriedCount(translator: CountTranslator, body: Buffer): Cell {
  const asked = translator.open(body, { model: 'm', stream: false })(targetOf('m'));
  const whole = asked.whole(Buffer.from(JSON.stringify({ input_tokens: 1234, totalTokens: 1234 })));
  const isCarried = asked.body.includes('Hello') && whole?.ok === true && whole.body.includes('1234');
  return { word: 'carried', codes: [], defects: isCarried ? [] : [asked.body.toString()] };
}

/** One case of a row in one API: for its clients, its providers, or both. */
export interface Side {
  /** Fields of a client's request; null if the API has none for it. */
  asks: Json | null;
  /** Fragments that a provider of this API must receive; null if the API has nothing equivalent. */
  gets: readonly unknown[] | null;
  /** The answer of such a provider: an object, a stream or a failure. */
  says?: Json | Buffer | Failure;
  /** Fragments that a client of this API must receive. */
  hears?: readonly unknown[];
  /** How the client continues after the answer. */
  continues?: (answer: Json) => Json;
}

export interface Failure {
  status: number;
  body: Json;
}

export type Case = Record<UpstreamWireName, Side>;

type Sides = [chat: Side, responses: Side, messages: Side, gemini: Side, converse: Side];

export function inEach(...[chatSide, responses, messages, geminiSide, converseSide]: Sides): Case {
  return {
    'openai-chat': chatSide,
    'openai-responses': responses,
    'anthropic-messages': messages,
    'gemini-generate': geminiSide,
    'bedrock-converse': converseSide,
  };
}

export function each(make: (wire: UpstreamWireName) => Side): Case {
  return inEach(
    make('openai-chat'),
    make('openai-responses'),
    make('anthropic-messages'),
    make('gemini-generate'),
    make('bedrock-converse'),
  );
}

/** A request field that providers receive in the same form in which clients send it. */
export function field(asks: Json): Side {
  return { asks, gets: [asks] };
}

/** The fragment that a provider of an API without clients receives. */
export function gets(fragment: Json): Side {
  return { asks: null, gets: [fragment] };
}

/** An API without a field for it. */
export const none: Side = { asks: null, gets: null };

/** Part of an answer, which clients receive in the same form in which providers send it. */
export function told(says: Json | Failure, ...hears: unknown[]): Side {
  return { asks: {}, gets: [], says, hears };
}

/** Requests an answer and nothing else. */
export const hello: Record<UpstreamWireName, Json> = {
  'bedrock-converse': { messages: [{ role: 'user', content: [{ text: 'Hello' }] }] },
  'openai-chat': { model: 'm', messages: [{ role: 'user', content: 'Hello' }] },
  'openai-responses': { model: 'm', input: [userItem({ type: 'input_text', text: 'Hello' })] },
  'anthropic-messages': { model: 'm', max_tokens: 1000, messages: [{ role: 'user', content: 'Hello' }] },
  'gemini-generate': { model: 'm', contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
};

export function userItem(...content: Json[]): Json {
  return { type: 'message', role: 'user', content };
}

/** A user message with an attachment. */
export const showing: Record<UpstreamWireName, (part: Json) => Json> = {
  'bedrock-converse': (part) => ({ messages: [{ role: 'user', content: [{ text: 'See:' }, part] }] }),
  'openai-chat': (part) => ({ messages: [{ role: 'user', content: [{ type: 'text', text: 'See:' }, part] }] }),
  'openai-responses': (part) => ({ input: [userItem({ type: 'input_text', text: 'See:' }, part)] }),
  'anthropic-messages': (part) => ({ messages: [{ role: 'user', content: [{ type: 'text', text: 'See:' }, part] }] }),
  'gemini-generate': (part) => ({ contents: [{ role: 'user', parts: [{ text: 'See:' }, part] }] }),
};

const schema = { type: 'object', properties: { path: { type: 'string' } } };
const about = { name: 'read', description: 'Reads.' };
const chatTool = { type: 'function', function: { ...about, parameters: schema } };
const responsesTool = { type: 'function', ...about, parameters: schema, strict: false };
const claudeTool = { ...about, input_schema: schema };
const geminiTool = { functionDeclarations: [{ ...about, parametersJsonSchema: schema }] };

const converseTool = { toolSpec: { ...about, inputSchema: { json: schema } } };

export const tools: Record<UpstreamWireName, Json> = {
  'bedrock-converse': { toolConfig: { tools: [converseTool] } },
  'openai-chat': { tools: [chatTool] },
  'openai-responses': { tools: [responsesTool] },
  'anthropic-messages': { tools: [claudeTool] },
  'gemini-generate': { tools: [geminiTool] },
};

/** The ids that Sluice gives to the calls of Gemini's clients, which have no ids. */
export const callIds = ['call_0', 'call_1'];

/** A call of the tool. */
export const called: Record<UpstreamWireName, (id: string) => Json> = {
  'bedrock-converse': (id) => converse.toolUse(id, 'read', { path: id }),
  'openai-chat': (id) => chat.toolCall(id, 'read', { path: id }),
  'openai-responses': (id) => ({
    type: 'function_call',
    call_id: id,
    name: 'read',
    arguments: JSON.stringify({ path: id }),
  }),
  'anthropic-messages': (id) => anthropic.toolUse(id, 'read', { path: id }),
  'gemini-generate': (id) => ({ functionCall: { name: 'read', args: { path: id } } }),
};

const resultText = 'Done.';
export const resulted: Record<UpstreamWireName, (id: string, ...media: Json[]) => Json> = {
  'bedrock-converse': (id, ...media) => ({ toolResult: { toolUseId: id, content: [{ text: resultText }, ...media] } }),
  'openai-chat': (id, ...media) => {
    const content = media.length === 0 ? resultText : [{ type: 'text', text: resultText }, ...media];
    return { role: 'tool', tool_call_id: id, content };
  },
  'openai-responses': (id, ...media) => {
    const output = media.length === 0 ? resultText : [{ type: 'input_text', text: resultText }, ...media];
    return { type: 'function_call_output', call_id: id, output };
  },
  'anthropic-messages': (id, ...media) => {
    return { type: 'tool_result', tool_use_id: id, content: [{ type: 'text', text: resultText }, ...media] };
  },
  'gemini-generate': (_id, ...media) => {
    const parts = media.length === 0 ? {} : { parts: media };
    return { functionResponse: { name: 'read', response: { output: resultText }, ...parts } };
  },
};

/** A conversation with the assistant's calls and their results. */
export const afterCalls: Record<UpstreamWireName, (calls: Json[], results: Json[]) => Json> = {
  'bedrock-converse': (calls, results) => ({
    messages: [
      { role: 'user', content: [{ text: 'Hello' }] },
      { role: 'assistant', content: calls },
      { role: 'user', content: results },
    ],
  }),
  'openai-chat': (calls, results) => ({
    messages: [{ role: 'user', content: 'Hello' }, { role: 'assistant', content: null, tool_calls: calls }, ...results],
  }),
  'openai-responses': (calls, results) => ({
    input: [userItem({ type: 'input_text', text: 'Hello' }), ...calls, ...results],
  }),
  'anthropic-messages': (calls, results) => ({
    messages: [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: calls },
      { role: 'user', content: results },
    ],
  }),
  'gemini-generate': (calls, results) => ({
    contents: [
      { role: 'user', parts: [{ text: 'Hello' }] },
      { role: 'model', parts: calls },
      { role: 'user', parts: results },
    ],
  }),
};

/** A complete answer. */
export const answer = {
  chat: chat.completion,
  messages: anthropic.message,
  gemini: (parts: Json[], finishReason = 'STOP') =>
    gemini.generated(parts, { finishReason, usageMetadata: gemini.usageMetadata }),
  responses: responses.responseWith,
  converse: converse.answerWith,
};

/** A stream with a text in two pieces. */
export const textStream: Record<UpstreamWireName, Buffer> = {
  'bedrock-converse': streamOf(converse.eventsOf([{ text: 'Hi you' }]), false),
  'openai-chat': Buffer.from(chat.streamOf([{ content: 'Hi ' }, { content: 'you' }])),
  'openai-responses': Buffer.from(
    responses.streamOfResponse(responses.responseWith([responses.messageWith('Hi you')])),
  ),
  'anthropic-messages': Buffer.from(anthropic.streamOf([{ type: 'text', text: 'Hi you' }])),
  'gemini-generate': streamOf([gemini.generated([{ text: 'Hi ' }]), gemini.answered([{ text: 'you' }])], false),
};
