/** An upstream that only implements OpenAI's Responses API, and refuses unknown fields. */
import type { ServerResponse } from 'node:http';
import { complaintsOf } from '../server/apis/translation/strict-upstreams.ts';
import type { Json } from '../server/apis/translation/translating.ts';
import { bodyOf } from './strict-chat.ts';
import { json, type Script, type SeenRequest } from './upstream.ts';

const path = '/v1/responses';
const countPath = `${path}/input_tokens`;

/** OpenAI's API reference, "Create a model response". */
const knownFields = new Set([
  'model',
  'instructions',
  'input',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_output_tokens',
  'temperature',
  'top_p',
  'text',
  'reasoning',
  'store',
  'include',
  'safety_identifier',
  'prompt_cache_key',
  'service_tier',
  'metadata',
  'stream',
  // Undocumented, but accepted; only Codex sends it.
  'client_metadata',
]);

/** Source: the same reference, "Get input token counts". */
const countFields = new Set([
  'model',
  'conversation',
  'input',
  'instructions',
  'parallel_tool_calls',
  'previous_response_id',
  'reasoning',
  'text',
  'tool_choice',
  'tools',
  'truncation',
]);

/** Answers valid requests with `answer`, counts their tokens as 1234, and answers all others with 400. */
export function strictResponses(answer: (body: Json, response: ServerResponse) => void): Script {
  return (request, response) => {
    const complaints = complaintsAbout(request);
    if (complaints.length === 0 && request.url === countPath)
      return json(response, { object: 'response.input_tokens', input_tokens: 1234 });
    if (complaints.length === 0) return answer(bodyOf(request), response);
    json(response, { error: { message: complaints.join('; '), type: 'invalid_request_error', code: null } }, 400);
  };
}

function complaintsAbout(request: SeenRequest): string[] {
  const { method, url } = request;
  if (method !== 'POST' || ![path, countPath].includes(url)) return [`${method} ${url} is not served`];
  const body = bodyOf(request);
  const known = url === countPath ? countFields : knownFields;
  const unknown = Object.keys(body).filter((name) => !known.has(name));
  const input = spelledOut(body.input);
  return [...unknown.map((name) => `unknown ${name}`), ...complaintsOf('openai-responses', { ...body, input })];
}

/** The input may be a plain string, and a message may omit its type. */
function spelledOut(input: unknown): unknown {
  if (!Array.isArray(input)) return [];
  return input.map((item: Json) => {
    if (item.role === undefined) return item;
    const { content } = item;
    const parts = typeof content === 'string' ? [{ type: 'input_text', text: content }] : content;
    return { ...item, type: 'message', content: parts };
  });
}

export const responseUsage = {
  input_tokens: 21,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 9,
  output_tokens_details: { reasoning_tokens: 3 },
  total_tokens: 30,
};

/** A complete response with these items. */
export function responseWith(output: readonly Json[], more: Json = {}): Json {
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status: 'completed',
    output,
    usage: responseUsage,
    ...more,
  };
}

export function messageWith(text: string): Json {
  const content = [{ type: 'output_text', text, annotations: [] }];
  return { id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', content };
}

export function reasoningWith(text: string): Json {
  return { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text }], encrypted_content: 'gAAAAsealed' };
}

export function callWith(callId: string, name: string, given: Json): Json {
  const members = { call_id: callId, name, arguments: JSON.stringify(given) };
  return { id: `fc_${callId}`, type: 'function_call', status: 'completed', ...members };
}

/** The stream of a complete response. Texts and arguments are sent in two pieces. */
export function streamOfResponse(response: Json): string {
  const head = { ...response, status: 'in_progress', output: [], usage: null };
  const items = response.output as Json[];
  return [
    event('response.created', { response: head }),
    event('response.in_progress', { response: head }),
    ...items.flatMap(eventsOfItem),
    event(`response.${String(response.status)}`, { response }),
  ].join('');
}

export function event(type: string, members: Json): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
}

function eventsOfItem(item: Json, output_index: number): string[] {
  const place = { output_index, item_id: item.id };
  const [kind, empty] = emptied(item);
  const opening = kind === null ? [] : [event(`response.${kind}_part.added`, { ...place, ...indices, part: empty })];
  return [
    event('response.output_item.added', { output_index, item: { ...item, status: 'in_progress', ...nothing(item) } }),
    ...opening,
    ...deltasOf(item).map(([type, delta]) => event(type, { ...place, ...indices, delta })),
    event('response.output_item.done', { output_index, item }),
  ];
}

const indices = { content_index: 0, summary_index: 0 };

/** The only part of an item before it has text, and the name of its event. */
function emptied({ type, content, summary }: Json): [kind: string | null, part: Json] {
  if (type === 'function_call') return [null, {}];
  const [part] = (type === 'reasoning' ? summary : content) as Json[];
  return [type === 'reasoning' ? 'reasoning_summary' : 'content', { ...part, text: '' }];
}

function nothing({ type }: Json): Json {
  if (type === 'function_call') return { arguments: '' };
  return type === 'reasoning' ? { summary: [] } : { content: [] };
}

function deltasOf({ type, content, summary, arguments: given }: Json): [string, string][] {
  if (type === 'function_call') return halves('response.function_call_arguments.delta', String(given));
  const [part] = (type === 'reasoning' ? summary : content) as { text: string }[];
  const name = type === 'reasoning' ? 'response.reasoning_summary_text.delta' : 'response.output_text.delta';
  return halves(name, part?.text ?? '');
}

function halves(type: string, text: string): [string, string][] {
  const middle = Math.ceil(text.length / 2);
  return [
    [type, text.slice(0, middle)],
    [type, text.slice(middle)],
  ];
}
