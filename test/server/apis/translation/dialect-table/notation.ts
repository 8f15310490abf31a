/** The notation of each API for the subjects of the table of dialects: requests, answers and streams. */
import type { UpstreamWireName } from '../../../../../server/apis/neutral/conversation.ts';
import * as anthropic from '../../../../support/strict-anthropic.ts';
import * as chat from '../../../../support/strict-chat.ts';
import * as converse from '../../../../support/strict-converse.ts';
import * as gemini from '../../../../support/strict-gemini.ts';
import * as responses from '../../../../support/strict-responses.ts';
import { type Json, streamOf } from '../translating.ts';

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
