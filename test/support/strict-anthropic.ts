/**
 * An upstream that implements Anthropic's Messages, version 2023-06-01, and refuses what Anthropic refuses. Sources:
 * Anthropic's API reference ("Create a Message", "Count tokens", "Errors", "Streaming messages"), "Preserved thinking",
 * and the model descriptions in "What's new in Claude …".
 */
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { complaintsOf } from '../server/apis/translation/strict-upstreams.ts';
import type { Json } from '../server/apis/translation/translating.ts';
import { eventStream, json, type Script, type SeenRequest } from './upstream.ts';

const messageFields = new Set([
  ...['model', 'messages', 'max_tokens', 'system', 'stop_sequences', 'stream', 'temperature', 'top_p', 'top_k'],
  ...['thinking', 'output_config', 'tools', 'tool_choice', 'cache_control', 'metadata', 'service_tier'],
]);
const countFields = new Set(
  [...messageFields].filter((name) => !['max_tokens', 'stream', 'metadata', 'service_tier'].includes(name)),
);

export const anthropicKey = 'sk-ant-api03-test';

/** The signature of a thought that the model produced in this account. */
export function signatureOf(thinking: string, key = anthropicKey): string {
  return createHash('sha256').update(`${key}\n${thinking}`).digest('base64');
}

/** Answers valid requests with `answer`, and all others as Anthropic does. */
export function strictAnthropic(answer: (body: Json, response: ServerResponse) => void | Promise<void>): Script {
  return (request, response) => {
    const refusal = refusalOf(request);
    if (refusal) return sendError(response, ...refusal);
    const body = bodyOf(request);
    if (!request.url.startsWith('/v1/messages/count_tokens')) return answer(body, response);
    json(response, { input_tokens: 1234 }, 200, { 'request-id': 'req_upstream' });
  };
}

export function bodyOf({ body }: SeenRequest): Json {
  return JSON.parse(body.toString()) as Json;
}

export function sendError(response: ServerResponse, status: number, type: string, message: string): void {
  const headers = { 'request-id': 'req_upstream' };
  json(response, { type: 'error', error: { type, message }, request_id: 'req_upstream' }, status, headers);
}

type Refusal = [status: number, type: string, message: string];

function refusalOf(request: SeenRequest): Refusal | null {
  const { method, url, headers } = request;
  const path = url.split('?')[0] ?? '';
  const key = headers['x-api-key'] ?? headers.authorization?.replace('Bearer ', '');
  if (key === undefined || key === 'wrong') return [401, 'authentication_error', 'invalid x-api-key'];
  if (method !== 'POST' || !['/v1/messages', '/v1/messages/count_tokens'].includes(path))
    return [404, 'not_found_error', `Not found: ${method} ${url}`];
  if (headers['anthropic-version'] === undefined)
    return [400, 'invalid_request_error', 'anthropic-version: header is required'];
  const complaints = complaintsAbout(request, path.endsWith('count_tokens'), String(key));
  return complaints.length === 0 ? null : [400, 'invalid_request_error', complaints.join('; ')];
}

function complaintsAbout(request: SeenRequest, isCount: boolean, key: string): string[] {
  const { headers } = request;
  const body = bodyOf(request);
  const known = new Set([...(isCount ? countFields : messageFields), ...betaFields(headers['anthropic-beta'])]);
  const foreign = Object.keys(headers).filter((name) => /^(?:openai-|x-goog)/.test(name));
  const unknown = Object.keys(body).filter((name) => !known.has(name));
  return [
    ...[...foreign, ...unknown].map((name) => `${name}: Extra inputs are not permitted`),
    ...(headers['content-type'] === 'application/json' ? [] : ['content-type: no JSON']),
    ...(Number(headers['content-length']) === request.body.length ? [] : ['content-length: another length']),
    ...(isCount || typeof body.max_tokens === 'number' ? [] : ['max_tokens: Field required']),
    ...modelComplaints(body),
    ...thinkingComplaints(body, key),
    ...complaintsOf('anthropic-messages', { ...body, messages: inBlocks(body.messages) }),
  ];
}

/** Fields that a beta adds to the body. Source: Anthropic, "Context editing". */
function betaFields(betas: string | string[] | undefined): string[] {
  return String(betas).includes('context-management-2025-06-27') ? ['context_management'] : [];
}

/** Messages with texts converted to blocks. */
export function inBlocks(messages: unknown): Json[] {
  return (messages as Json[]).map((message) =>
    typeof message.content === 'string' ? { ...message, content: [{ type: 'text', text: message.content }] } : message,
  );
}

/** What Opus 5.5 and Sonnet 5.5 refuse, but 4.6 and older models accept. */
function modelComplaints({ model, max_tokens: maxTokens, ...body }: Json): string[] {
  const isNewest = String(model).includes('-5-5');
  const most = isNewest ? 128_000 : 64_000;
  const choice = body.tool_choice as Json | undefined;
  return [
    ...(Number(maxTokens ?? 1) > most ? [`'max_tokens': ${maxTokens} > ${most}`] : []),
    ...(isNewest && ['temperature', 'top_p', 'top_k'].some((name) => name in body)
      ? ['temperature: not supported']
      : []),
    ...(isNewest && ['any', 'tool'].includes(String(choice?.type))
      ? ['tool_choice: not supported for this model.']
      : []),
    ...(isNewest && (body.thinking as Json | undefined)?.type === 'enabled' ? ['thinking.type: enabled'] : []),
  ];
}

function thinkingComplaints({ messages }: Json, key: string): string[] {
  return inBlocks(messages).flatMap(({ content }, index) =>
    (content as Json[]).flatMap((block, at) => {
      if (block.type !== 'thinking' || block.signature === signatureOf(String(block.thinking), key)) return [];
      return [`messages.${index}.content.${at}: Invalid \`signature\` in \`thinking\` block`];
    }),
  );
}

export const usage = {
  input_tokens: 5,
  cache_creation_input_tokens: 7,
  cache_read_input_tokens: 11,
  cache_creation: { ephemeral_5m_input_tokens: 7, ephemeral_1h_input_tokens: 0 },
  output_tokens: 9,
};

const messageFrame = { id: 'msg_01', type: 'message', role: 'assistant', model: 'claude-opus-5-5' };

/** A complete answer. */
export function message(content: readonly Json[], stopReason = 'end_turn'): Json {
  return { ...messageFrame, content, stop_reason: stopReason, stop_sequence: null, usage };
}

export const text = (said: string): Json => ({ type: 'text', text: said });
export const thought = (said: string): Json => ({ type: 'thinking', thinking: said, signature: signatureOf(said) });
export const toolUse = (id: string, name: string, input: Json): Json => ({ type: 'tool_use', id, name, input });

export function event(value: Json): string {
  return `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
}

/** The beginning of a stream. */
export const begun = event({
  type: 'message_start',
  message: {
    ...messageFrame,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 1 },
  },
});

/** The events of one block. */
export function blockEvents(index: number, block: Json): string {
  const [empty, deltas] = piecesOf(block);
  return [
    event({ type: 'content_block_start', index, content_block: empty }),
    ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
    event({ type: 'content_block_stop', index }),
  ].join('');
}

function piecesOf(block: Json): [empty: Json, deltas: Json[]] {
  if (block.type === 'text') {
    return [{ type: 'text', text: '' }, halvesOf(block.text).map((half) => ({ type: 'text_delta', text: half }))];
  }
  if (block.type === 'tool_use') {
    const pieces = ['', ...halvesOf(JSON.stringify(block.input))];
    return [{ ...block, input: {} }, pieces.map((piece) => ({ type: 'input_json_delta', partial_json: piece }))];
  }
  if (block.type !== 'thinking') return [block, []];
  const thoughts = halvesOf(block.thinking).map((half) => ({ type: 'thinking_delta', thinking: half }));
  const signature = { type: 'signature_delta', signature: block.signature };
  return [{ type: 'thinking', thinking: '', signature: '' }, [...thoughts, signature]];
}

function halvesOf(value: unknown): string[] {
  const whole = String(value);
  const middle = Math.ceil(whole.length / 2);
  return [whole.slice(0, middle), whole.slice(middle)].filter((half) => half !== '');
}

/** The end of a complete stream. */
export function ending(stopReason = 'end_turn'): string {
  const delta = { stop_reason: stopReason, stop_sequence: null };
  return event({ type: 'message_delta', delta, usage }) + event({ type: 'message_stop' });
}

/** A complete stream with these blocks. */
export function streamOf(blocks: readonly Json[], stopReason = 'end_turn'): string {
  const ping = event({ type: 'ping' });
  return `${begun}${ping}${blocks.map((block, index) => blockEvents(index, block)).join('')}${ending(stopReason)}`;
}

export function sendStream(response: ServerResponse, told: string): void {
  eventStream(response);
  response.end(told);
}

/** Sends a stream or a whole answer, as requested. */
export function send(response: ServerResponse, body: Json, blocks: readonly Json[], stopReason = 'end_turn'): void {
  if (body.stream === true) sendStream(response, streamOf(blocks, stopReason));
  else json(response, message(blocks, stopReason), 200, { 'request-id': 'req_upstream' });
}
