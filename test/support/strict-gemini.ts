/** An upstream that only implements Gemini's API, and refuses what Google's API refuses. */
import type { ServerResponse } from 'node:http';
import { complaintsOf } from '../server/apis/translation/strict-upstreams.ts';
import type { Json } from '../server/apis/translation/translating.ts';
import { bodyOf } from './strict-chat.ts';
import { json, type Script, type SeenRequest } from './upstream.ts';

export const geminiKey = 'AIza-upstream-secret';

/** Google's parser of JSON for Protobuf refuses any other name. */
const knownFields = new Set([
  'contents',
  'systemInstruction',
  'tools',
  'toolConfig',
  'generationConfig',
  'safetySettings',
]);

const callPath = /^\/v1beta\/models\/([^/?]+):(\w+)(\?alt=sse)?$/;

export interface GeminiCall {
  model: string;
  verb: string;
  /** The stream consists of server-sent events. */
  isSse: boolean;
  body: Json;
}

/** Answers valid requests with `answer`, and all others with 400. */
export function strictGemini(answer: (call: GeminiCall, response: ServerResponse) => void | Promise<void>): Script {
  return (request, response) => {
    const [, model = '', verb = '', alt] = callPath.exec(request.url) ?? [];
    if (model === '' || request.method !== 'POST') {
      sendGoogleError(response, 404, 'NOT_FOUND', `${request.method} ${request.url} is not served`);
      return;
    }
    if (request.headers['x-goog-api-key'] !== geminiKey) {
      sendWrongKey(response);
      return;
    }
    const complaints = complaintsAbout(request, verb);
    if (complaints.length > 0) sendGoogleError(response, 400, 'INVALID_ARGUMENT', complaints.join('; '));
    else return answer({ model, verb, isSse: alt !== undefined, body: bodyOf(request) }, response);
  };
}

function complaintsAbout({ headers, body }: SeenRequest, verb: string): string[] {
  const value = JSON.parse(body.toString()) as Json;
  const foreign = Object.keys(headers).filter((name) => name === 'authorization' || name.startsWith('anthropic-'));
  const sized = Number(headers['content-length']) === body.length ? [] : ['another length'];
  const common = [...foreign.map((name) => `unknown header ${name}`), ...sized];
  if (!verb.endsWith('enerateContent')) return common;
  const unknown = Object.keys(value).filter((name) => !knownFields.has(name));
  return [
    ...common,
    ...unknown.map((name) => `Invalid JSON payload received. Unknown name "${name}"`),
    ...complaintsOf('gemini-generate', value),
  ];
}

export function sendGoogleError(
  response: ServerResponse,
  code: number,
  status: string,
  message: string,
  details?: object[],
): void {
  json(response, { error: { code, message, status, ...(details && { details }) } }, code);
}

export function sendWrongKey(response: ServerResponse): void {
  sendGoogleError(response, 400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
    { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID', domain: 'googleapis.com' },
  ]);
}

export const usageMetadata = {
  promptTokenCount: 30,
  cachedContentTokenCount: 10,
  candidatesTokenCount: 5,
  thoughtsTokenCount: 4,
  totalTokenCount: 39,
};

/** A complete answer, or one event of a stream. */
export function generated(parts: Json[], more: { finishReason?: string; usageMetadata?: object } = {}): Json {
  const { finishReason, ...rest } = more;
  const candidate = { content: { role: 'model', parts }, index: 0, ...(finishReason && { finishReason }) };
  return { candidates: [candidate], ...rest, modelVersion: 'gemini-3-pro', responseId: 'r1' };
}

export function answered(parts: Json[]): Json {
  return generated(parts, { finishReason: 'STOP', usageMetadata });
}

/** In the format that Google writes. */
export function sendEvents(response: ServerResponse, events: readonly Json[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join(''));
}

export function sendArray(response: ServerResponse, elements: readonly Json[]): void {
  response.writeHead(200, { 'content-type': 'application/json; charset=UTF-8' });
  response.end(`[${elements.map((element) => JSON.stringify(element, null, 2)).join(',\r\n')}\n]`);
}
