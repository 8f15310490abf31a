/**
 * An upstream that implements Bedrock's Converse and ConverseStream, and refuses what Bedrock refuses. Sources: Amazon
 * Bedrock API reference, "Converse", "ConverseStream"; AWS, "Event stream encoding".
 */
import type { ServerResponse } from 'node:http';
import { complaintsOf } from '../server/apis/translation/strict-upstreams.ts';
import type { Json } from '../server/apis/translation/translating.ts';
import { bodyOf } from './strict-anthropic.ts';
import { bedrockKey, eventFrame, sendException, sendFrames } from './strict-bedrock.ts';
import { json, type Script } from './upstream.ts';

const pathOfCall = /^\/model\/([^/?]+)\/(converse|converse-stream)$/;

export interface ConverseCall {
  /** Percent-decoded. */
  model: string;
  isStream: boolean;
  body: Json;
}

/** Answers valid requests with `answer`, and all others as Bedrock does. */
export function strictConverse(answer: (call: ConverseCall, response: ServerResponse) => void | Promise<void>): Script {
  return (request, response) => {
    const [, model, verb] = pathOfCall.exec(request.url) ?? [];
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
