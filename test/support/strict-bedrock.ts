/**
 * An upstream that implements Bedrock's InvokeModel for Claude and refuses what Bedrock refuses. Sources: Amazon
 * Bedrock API reference, "InvokeModel", "InvokeModelWithResponseStream"; AWS, "Event stream encoding".
 */
import type { ServerResponse } from 'node:http';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { complaintsOf } from '../server/apis/translation/strict-upstreams.ts';
import type { Json } from '../server/apis/translation/translating.ts';
import { bodyOf, inBlocks, message, streamOf } from './strict-anthropic.ts';
import { json, type Script, type SeenRequest } from './upstream.ts';

// An upstream that implements Bedrock's Converse and ConverseStream, and refuses what Bedrock refuses. Sources: Amazon
// Bedrock API reference, "Converse", "ConverseStream"; AWS, "Event stream encoding".

const pathOfConverse = /^\/model\/([^/?]+)\/(converse|converse-stream)$/;

export interface ConverseCall {
  /** Percent-decoded. */
  model: string;
  isStream: boolean;
  body: Json;
}

/** Answers valid requests with `answer`, and all others as Bedrock does. */
export function strictConverse(answer: (call: ConverseCall, response: ServerResponse) => void | Promise<void>): Script {
  return (request, response) => {
    const [, model, verb] = pathOfConverse.exec(request.url) ?? [];
    if (request.method !== 'POST' || model === undefined)
      return sendException(response, 404, 'UnknownOperationException', 'no such operation');
    const { authorization = '', accept } = request.headers;
    if (authorization !== `Bearer ${bedrockKey}` && !authorization.startsWith('AWS4-HMAC-SHA256 Credential=AKIA'))
      return sendException(response, 403, 'AccessDeniedException', 'Invalid API Key format: Must start with ABSK');
    const isStream = verb === 'converse-stream';
    if (accept !== (isStream ? 'application/vnd.amazon.eventstream' : 'application/json'))
      return sendException(response, 400, 'ValidationException', `unsupported media type ${accept}`);
    const body = bodyOf(request);
    const [complaint] = complaintsOf('bedrock-converse', body);
    if (complaint !== undefined) return sendException(response, 400, 'ValidationException', complaint);
    return answer({ model: decodeURIComponent(model), isStream, body }, response);
  };
}

export function toolUse(toolUseId: string, name: string, input: Json): Json {
  return { toolUse: { toolUseId, name, input } };
}

export function reasoned(text: string, signature?: string): Json {
  return { reasoningContent: { reasoningText: { text, ...(signature !== undefined && { signature }) } } };
}

export const converseUsage = { inputTokens: 12, outputTokens: 9, totalTokens: 32, cacheReadInputTokens: 11 };

/** A complete answer. */
export function answerWith(content: readonly Json[], stopReason = 'end_turn'): Json {
  return {
    output: { message: { role: 'assistant', content } },
    stopReason,
    usage: converseUsage,
    metrics: { latencyMs: 5 },
  };
}

/**
 * The events of the same answer, each as an object whose only member is named after its type. Texts are sent in two
 * pieces.
 */
export function eventsOf(content: readonly Json[], stopReason = 'end_turn'): Json[] {
  return [
    { messageStart: { role: 'assistant' } },
    ...content.flatMap(blockEvents),
    { messageStop: { stopReason } },
    { metadata: { usage: converseUsage, metrics: { latencyMs: 5 } } },
  ];
}

function blockEvents(block: Json, contentBlockIndex: number): Json[] {
  const deltas = (...list: Json[]) => list.map((delta) => ({ contentBlockDelta: { contentBlockIndex, delta } }));
  const stop = { contentBlockStop: { contentBlockIndex } };
  const call = block.toolUse as Json | undefined;
  const reasoning = block.reasoningContent as { reasoningText: Json } | undefined;
  if (call) {
    const { input, ...start } = call;
    const [head, tail] = halves(JSON.stringify(input));
    const begun = { contentBlockStart: { contentBlockIndex, start: { toolUse: start } } };
    return [begun, ...deltas({ toolUse: { input: head } }, { toolUse: { input: tail } }), stop];
  }
  if (reasoning) {
    const { text, signature } = reasoning.reasoningText;
    const seal = signature === undefined ? [] : [{ reasoningContent: { signature } }];
    return [...deltas({ reasoningContent: { text } }, ...seal), stop];
  }
  const [head, tail] = halves(String(block.text));
  return [...deltas({ text: head }, { text: tail }), stop];
}

function halves(text: string): [string, string] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

/** The same events in frames, as ConverseStream sends them. */
export function converseFramesOf(content: readonly Json[], stopReason?: string): Buffer[] {
  return eventsOf(content, stopReason).flatMap((event) =>
    Object.entries(event).map(([type, payload]) => eventFrame(type, { ...(payload as Json), p: 'abcdef' })),
  );
}

/** Sends a stream or a whole answer, as requested. */
export function sendConverse(
  response: ServerResponse,
  { isStream }: ConverseCall,
  content: readonly Json[],
  stopReason?: string,
): void {
  if (isStream) sendFrames(response, converseFramesOf(content, stopReason));
  else json(response, answerWith(content, stopReason), 200, { 'x-amzn-requestid': 'aws-1' });
}

export const bedrockKey = 'ABSKQmVkcm9ja0FQSUtleS10ZXN0';

const fields = new Set([
  ...['messages', 'max_tokens', 'system', 'stop_sequences', 'temperature', 'top_p', 'top_k', 'thinking', 'metadata'],
  ...['output_config', 'tools', 'tool_choice', 'anthropic_version', 'anthropic_beta'],
]);
const betas = new Set(['interleaved-thinking-2025-05-14', 'context-1m-2025-08-07']);
const pathOfCall = /^\/model\/([^/?]+)\/(invoke|invoke-with-response-stream)$/;

export interface BedrockCall {
  /** Percent-decoded. */
  model: string;
  isStream: boolean;
  body: Json;
}

const pathOfCount = /^\/model\/([^/?]+)\/count-tokens$/;

/**
 * Counts the tokens of what InvokeModel would accept, for a model by its own name. Source: Amazon Bedrock API
 * reference, "CountTokens".
 * @param refusal the message of an exception
 */
export function strictCount(tokens: number, refusal?: string): Script {
  return (request, response) => {
    const [, model = ''] = pathOfCount.exec(request.url) ?? [];
    if (request.method !== 'POST' || !decodeURIComponent(model).startsWith('anthropic.'))
      return sendException(response, 400, 'ValidationException', 'The provided model identifier is invalid.');
    if (!isProven(request)) return sendException(response, 403, 'AccessDeniedException', 'Invalid API Key format');
    if (refusal?.includes('is not authorized')) return sendException(response, 403, 'AccessDeniedException', refusal);
    const { input, ...others } = bodyOf(request) as { input: { invokeModel: { body: string } } };
    const body = Buffer.from(input.invokeModel.body, 'base64');
    const complaint =
      refusal ??
      Object.keys(others)[0] ??
      complaintAbout(
        { ...request, headers: { ...request.headers, 'content-length': String(body.length) }, body },
        false,
      );
    if (complaint !== null) return sendException(response, 400, 'ValidationException', complaint);
    return json(response, { inputTokens: tokens });
  };
}

/** Answers valid requests with `answer`, and all others as Bedrock does. */
export function strictBedrock(answer: (call: BedrockCall, response: ServerResponse) => void | Promise<void>): Script {
  return (request, response) => {
    const [, model, verb] = pathOfCall.exec(request.url) ?? [];
    if (request.method !== 'POST' || model === undefined)
      return sendException(response, 404, 'UnknownOperationException', 'no such operation');
    if (!isProven(request))
      return sendException(response, 403, 'AccessDeniedException', 'Invalid API Key format: Must start with ABSK');
    const isStream = verb === 'invoke-with-response-stream';
    const complaint = complaintAbout(request, isStream);
    if (complaint) return sendException(response, 400, 'ValidationException', complaint);
    return answer({ model: decodeURIComponent(model), isStream, body: bodyOf(request) }, response);
  };
}

function isProven({ headers }: SeenRequest): boolean {
  const { authorization = '' } = headers;
  return authorization === `Bearer ${bedrockKey}` || authorization.startsWith('AWS4-HMAC-SHA256 Credential=AKIA');
}

function complaintAbout(request: SeenRequest, isStream: boolean): string | null {
  const { headers } = request;
  const body = bodyOf(request);
  const unknown = Object.keys(body).find((name) => !fields.has(name));
  if (unknown) return `${unknown}: Extra inputs are not permitted`;
  if (headers['anthropic-version'] ?? headers['anthropic-beta'] ?? headers['x-api-key'])
    return 'headers of another API';
  const accepted = isStream ? 'application/vnd.amazon.eventstream' : 'application/json';
  if (headers.accept !== accepted || headers['content-type'] !== 'application/json') return 'unsupported media type';
  if (Number(headers['content-length']) !== request.body.length) return 'content-length: another length';
  if (body.anthropic_version !== 'bedrock-2023-05-31') return 'anthropic_version: Field required';
  if (!((body.anthropic_beta ?? []) as string[]).every((beta) => betas.has(beta))) return 'invalid beta flag';
  if (typeof body.max_tokens !== 'number') return 'max_tokens: Field required';
  return complaintsOf('anthropic-messages', { ...body, messages: inBlocks(body.messages) })[0] ?? null;
}

export function sendException(response: ServerResponse, status: number, name: string, said: string): void {
  json(response, { message: said }, status, {
    'x-amzn-errortype': `${name}:http://internal.amazon.com/coral/`,
    'x-amzn-requestid': 'aws-1',
  });
}

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
  (text) => Buffer.from(text, 'utf8'),
);
const string = (value: string) => ({ type: 'string' as const, value });

/** One event of Anthropic's API in a frame. */
export function frame(event: Json): Buffer {
  const bytes = Buffer.from(JSON.stringify(event)).toString('base64');
  return eventFrame('chunk', { bytes, p: 'abcdef' });
}

/** @param payload a `Buffer` is sent as it is */
export function eventFrame(type: string, payload: Json | Buffer): Buffer {
  const headers = {
    ':event-type': string(type),
    ':content-type': string('application/json'),
    ':message-type': string('event'),
  };
  const body = Buffer.isBuffer(payload) ? payload : Buffer.from(JSON.stringify(payload));
  return Buffer.from(codec.encode({ headers, body }));
}

export function exceptionFrame(name: string, said: unknown): Buffer {
  const headers = { ':exception-type': string(name), ':message-type': string('exception') };
  return Buffer.from(codec.encode({ headers, body: Buffer.from(JSON.stringify({ message: said })) }));
}

/** The frames of a complete answer with these blocks. */
export function framesOf(blocks: readonly Json[], stopReason = 'end_turn'): Buffer[] {
  return streamOf(blocks, stopReason)
    .split('\n\n')
    .filter((event) => event !== '' && !event.includes('"ping"'))
    .map((event) => frame(JSON.parse(event.slice(event.indexOf('data: ') + 'data: '.length)) as Json));
}

export function sendFrames(response: ServerResponse, frames: readonly Buffer[]): void {
  response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
  response.end(Buffer.concat(frames));
}

/** Sends a stream or a whole answer, as requested. */
export function send(
  response: ServerResponse,
  { isStream }: BedrockCall,
  blocks: readonly Json[],
  stopReason = 'end_turn',
): void {
  if (isStream) sendFrames(response, framesOf(blocks, stopReason));
  else json(response, message(blocks, stopReason), 200, { 'x-amzn-requestid': 'aws-1' });
}
