/** An upstream that only implements OpenAI's chat API, and refuses what such services refuse. */

import type { ServerResponse } from 'node:http';
import type { ChatFlavour } from '../../server/apis/core/chat-flavour.ts';
import { missingSignature } from '../../server/apis/openai/wire/fit-request.ts';
import { chatFlavourOf } from '../../server/providers/chat-flavours.ts';
import { presets } from '../../server/providers/presets.ts';
import { complaintsOf } from '../server/apis/translation/strict-upstreams.ts';
import type { Json } from '../server/apis/translation/translating.ts';
import { eventStream, json, type Script, type SeenRequest } from './upstream.ts';

/** From the chat references of the providers. Other fields are refused, as by Groq and Mistral. */
const knownFields = new Set([
  'model',
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'stop',
  'stream',
  'stream_options',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'reasoning_effort',
]);

export function bodyOf({ body }: SeenRequest): Json {
  return JSON.parse(body.toString()) as Json;
}

/**
 * Answers valid requests with `answer`, and all others with 400. `taken` converts a body that the service accepts into
 * the form that is checked.
 */
export function strictChat(
  answer: (body: Json, response: ServerResponse) => void | Promise<void>,
  taken: (body: Json) => Json = (body) => body,
): Script {
  return (request, response) => {
    const complaints = complaintsAbout(request, taken);
    if (complaints.length === 0) return answer(bodyOf(request), response);
    json(response, { error: { message: complaints.join('; '), type: 'invalid_request_error', code: null } }, 400);
  };
}

function complaintsAbout(request: SeenRequest, taken: (body: Json) => Json): string[] {
  const { method, url, headers } = request;
  if (method !== 'POST' || url !== '/v1/chat/completions') return [`${method} ${url} is not served`];
  const body = taken(bodyOf(request));
  const foreign = Object.keys(headers).filter((name) => name.startsWith('anthropic-'));
  const unknown = Object.keys(body).filter((name) => !knownFields.has(name));
  return [
    ...[...foreign, ...unknown].map((name) => `unknown ${name}`),
    ...(headers['content-type'] === 'application/json' ? [] : ['no JSON']),
    ...(Number(headers['content-length']) === request.body.length ? [] : ['another length']),
    ...complaintsOf('openai-chat', body),
  ];
}

export const usage = { prompt_tokens: 21, completion_tokens: 9, total_tokens: 30 };

/** A complete chat completion. */
export function completion(message: Json, finishReason = 'stop'): Json {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'gpt-x',
    choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: finishReason }],
    usage,
  };
}

export function chunk(delta: Json, finishReason: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finishReason }];
  return dataLine({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gpt-x', choices });
}

export function dataLine(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

/** The end of a stream for which usage was requested. */
export function ending(finishReason: string): string {
  const last = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gpt-x', choices: [], usage };
  return `${chunk({}, finishReason)}${dataLine(last)}data: [DONE]\n\n`;
}

/** A complete stream with these deltas. */
export function streamOf(deltas: readonly Json[], finishReason = 'stop'): string {
  return `${chunk({ role: 'assistant', content: '' })}${deltas.map((delta) => chunk(delta)).join('')}${ending(finishReason)}`;
}

export function sendStream(response: ServerResponse, text: string): void {
  eventStream(response);
  response.end(text);
}

/** A tool call, as in a complete message. */
export function toolCall(id: string, name: string, given: Json): Json {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(given) } };
}

// Chat services that refuse what the table of flavours says they refuse, as far as the table itself is not what is tested.

export interface FlavouredService {
  preset: string;
  /** A model to which its flavour applies. */
  model: string;
  flavour: ChatFlavour;
}

const thinkingModels: Readonly<Record<string, readonly string[]>> = {
  openai: ['gpt-5'],
  deepseek: ['deepseek-v4-pro'],
  moonshot: ['kimi-k2.6'],
  openrouter: ['google/gemini-3-pro-preview'],
};

/** All of the table. Some have another flavour for models that think. */
export const flavouredServices: readonly FlavouredService[] = presets.flatMap(({ id, dialect }) =>
  ['some-model', ...(thinkingModels[id] ?? [])].flatMap((model) => {
    const flavour = chatFlavourOf({ preset: id, dialect, baseUrl: 'http://127.0.0.1/v1' })(model);
    return flavour && dialect === 'openai' ? [{ preset: id, model, flavour }] : [];
  }),
);

/** Answers with 400 what the flavour refuses, and everything else with "Hello". */
export function flavouredChat(): Script {
  return (request, response) => {
    const body = bodyOf(request);
    const preset = request.url.split('/')[1];
    const { flavour } = flavouredServices.find((each) => each.preset === preset && each.model === body.model) ??
      flavouredServices.find((each) => each.preset === preset) ?? { flavour: undefined };
    const refused = flavour ? refusedIn(body, flavour) : [];
    if (refused.length > 0) {
      const message = refused.map((path) => `property '${path}' is unsupported`).join('; ');
      json(response, { error: { message, type: 'invalid_request_error' } }, 400);
    } else if (body.stream === true) sendStream(response, streamOf([{ content: 'Hello' }]));
    else json(response, completion({ content: 'Hello' }));
  };
}

/** Paths of all that the flavour refuses in a request. */
export function refusedIn(body: Json, flavour: ChatFlavour): string[] {
  const { messages = [], tools = [] } = body as { messages?: Json[]; tools?: { function?: Json }[] };
  return [
    ...Object.keys(body).filter((name) => name in flavour.request),
    ...messages.flatMap((message, index) => refusedInMessage(message, `messages[${index}].`, flavour)),
    ...tools.flatMap(({ function: each = {} }, index) =>
      Object.keys(each).flatMap((name) => (name in flavour.functions ? [`tools[${index}].function.${name}`] : [])),
    ),
  ];
}

function refusedInMessage(message: Json, path: string, flavour: ChatFlavour): string[] {
  const { messages, roles, joinsTexts, wantsReasoning, signsCalls } = flavour;
  const names = Object.keys(message).filter((name) => name in messages);
  const { role, content } = message;
  const isList = joinsTexts && Array.isArray(content) && content.every(({ type }: Json) => type === 'text');
  const isConcerned =
    wantsReasoning === 'of all' || (wantsReasoning === 'of calls' && message.tool_calls !== undefined);
  const isMissing = role === 'assistant' && isConcerned && message.reasoning_content === undefined;
  return [
    ...names.map((name) => `${path}${name}`),
    ...(String(role) in roles ? [`${path}role`] : []),
    ...(isList ? [`${path}content`] : []),
    ...(isMissing ? [`${path}reasoning_content`] : []),
    ...(missingSignature(message, signsCalls) === null ? [] : [`${path}${signsCalls}`]),
  ];
}
