/** Claude through InvokeModel: Anthropic's API, with the model in the path and streams in AWS's frames. */
import { isObject } from '../../../contract/is-object.ts';
import type { ResponseHeaders } from '../../../transport/transport.ts';
import type { Envelope, EnvelopedRequest, HostedModel } from '../../core/dialects/dialect.ts';
import {
  claudeErrorType,
  countingPath,
  plainHeaders,
  sortBetas,
  withMarkedBlock,
  writeClaudeError,
} from '../../core/dialects/hosted-claude.ts';
import { exceptionType, messageIn } from './exceptions.ts';
import { type FrameFormat, frames, objectIn, onOneLine } from './frames.ts';
import { unpackingOf } from './unpacking.ts';

/**
 * As of 2026-11-22. Sources: Amazon Bedrock user guide, "Anthropic Claude Messages API"; for the betas of 2026,
 * BerriAI/litellm (`anthropic_beta_headers_config.json`).
 */
const betas: ReadonlySet<string> = new Set([
  'computer-use-2024-10-22',
  'computer-use-2025-01-24',
  'computer-use-2025-11-24',
  'token-efficient-tools-2025-02-19',
  'output-128k-2025-02-19',
  'interleaved-thinking-2025-05-14',
  'dev-full-thinking-2025-05-14',
  'fine-grained-tool-streaming-2025-05-14',
  'context-management-2025-06-27',
  'context-1m-2025-08-07',
  'tool-search-tool-2025-10-19',
  'tool-examples-2025-10-29',
  'effort-2025-11-24',
  'compact-2026-01-12',
  'mid-conversation-output-config-2026-07-01',
  'mid-conversation-tool-changes-2026-07-01',
  'thinking-binding-controls-2026-08-01',
  'thinking-display-updates-2026-08-18',
]);

export function claudeOnBedrock(model: string): HostedModel {
  return {
    wire: 'anthropic-messages',
    embeddingsWire: null,
    countsTokens: countedModel(model) !== null,
    envelope: (request) => (request.path === countingPath ? countEnvelope(model, request) : envelope(model, request)),
    errorBody,
    unpacking: unpackingOf(claudeFrames),
  };
}

/**
 * The model name for counting tokens: that of the model itself instead of an inference profile
 * (Portkey-AI/gateway#1437). null for an ARN that does not name its model.
 */
function countedModel(model: string): string | null {
  const from = model.lastIndexOf('anthropic.');
  return from === -1 ? null : model.slice(from);
}

/** The counted request must be complete. Source: Amazon Bedrock API reference, "CountTokens". */
function countEnvelope(model: string, request: EnvelopedRequest): Envelope {
  const messageEnvelope = envelope(model, request);
  return {
    ...messageEnvelope,
    path: `/model/${encodeURIComponent(countedModel(model) ?? model)}/count-tokens`,
    rewrite: (body, write) => {
      const complete = write({ ...withMarkedBlock(body), max_tokens: mostThought(body.thinking) + 1 });
      return { input: { invokeModel: { body: Buffer.from(complete).toString('base64') } } };
    },
  };
}

/** The thinking budget in tokens. The limit of an answer must be higher. */
function mostThought(thinking: unknown): number {
  return isObject(thinking) && typeof thinking.budget_tokens === 'number' ? thinking.budget_tokens : 0;
}

function envelope(model: string, request: EnvelopedRequest): Envelope {
  const { headers, isStream } = request;
  const { accepted, unavailable } = sortBetas(headers['anthropic-beta'], betas, model);
  const version = { anthropic_version: 'bedrock-2023-05-31' };
  return {
    path: `/model/${encodeURIComponent(model)}/${isStream ? 'invoke-with-response-stream' : 'invoke'}`,
    headers: { ...plainHeaders(headers), accept: isStream ? frames : 'application/json' },
    omitted: ['model', 'stream'],
    unavailable,
    added: accepted.length === 0 ? version : { ...version, anthropic_beta: accepted },
    rewrite: withMarkedBlock,
  };
}

/** Bedrock's errors are `{"message":"…"}`; their name is in a header. */
function errorBody(status: number, headers: ResponseHeaders, body: Buffer): Buffer {
  const name = headers['x-amzn-errortype'];
  const message = messageIn(body);
  if (message === null) return body;
  const type = (typeof name === 'string' && exceptionType(name, message)) || claudeErrorType(status);
  return writeClaudeError(type, message);
}

/**
 * Frames of InvokeModelWithResponseStream for Claude. A `chunk` contains `{"bytes":"…"}`, an event of Anthropic's API
 * in base64. Source: Amazon Bedrock API reference, `ResponseStream`.
 */
export const claudeFrames: FrameFormat = {
  eventWriter: () => writeEvent,
  exception: (name, message) =>
    `event: error\ndata: ${writeClaudeError(exceptionType(name, message) ?? 'api_error', message)}\n\n`,
};

function writeEvent(payload: Buffer): string | null {
  const { bytes } = objectIn(payload);
  return typeof bytes === 'string' ? eventOf(Buffer.from(bytes, 'base64')) : '';
}

/** The name of an event is its type. */
function eventOf(json: Buffer): string | null {
  const { type } = objectIn(json);
  return typeof type === 'string' ? `event: ${type}\ndata: ${onOneLine(json)}\n\n` : null;
}
