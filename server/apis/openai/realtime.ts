/** OpenAI's Realtime API: its sessions and their events. */

import { isObject } from '../../contract/is-object.ts';
import type { Usage } from '../../contract/ledger.ts';
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import { estimateTokens } from '../core/usage/prompt-estimate.ts';
import { plausibleUsage, unbounded } from '../core/usage/reported-usage.ts';
import type { ModelBounds, ServerEvent, SessionFormat, UsageFormat, Wire } from '../core/wire.ts';
import { parseObject } from '../json/parse-object.ts';
import { toUsage } from './usage/usage-shapes.ts';
import { type CommonField, jsonAnswer, jsonRequest } from './wire/formats.ts';

/** Tokens of a short spoken turn in both directions. */
const likelyInputTokens = 1_000;
const likelyOutputTokens = 300;
/** The largest context window and the longest response of OpenAI's realtime models (`gpt-realtime-2`, November 2026). */
const usualContextTokens = 128_000;
const usualOutputTokens = 32_000;

/** Estimates one response within a session; other usage of a session cannot be estimated in advance. */
const responseUsage: UsageFormat<never> = {
  likely: () => ({ inputTokens: likelyInputTokens, outputTokens: likelyOutputTokens }),
  worst: (_body, model) => worstOf(model),
  hints: () => ({}),
  read: () => ({ usage: null, certainty: 'none', status: null }),
  text: null,
};

/** Assumes that all tokens are audio, because audio costs more than text. */
function worstOf({ contextTokens, outputTokens }: ModelBounds) {
  const input = contextTokens ?? usualContextTokens;
  const output = outputTokens ?? usualOutputTokens;
  return { inputTokens: input, audioInputTokens: input, outputTokens: output, audioOutputTokens: output };
}

export const realtime: Wire<CommonField> = {
  name: 'openai-realtime',
  operation: 'realtime',
  request: jsonRequest,
  errorName: 'code',
  usage: responseUsage,
  whole: jsonAnswer([]),
  stream: null,
  rescue: null,
};

const transcribed = 'conversation.item.input_audio_transcription.completed';
/** The last two are from the API before 2025-08. */
const sessionTypes = [
  'session.created',
  'session.updated',
  'transcription_session.created',
  'transcription_session.updated',
];
const readTypes = ['response.created', 'response.done', transcribed, ...sessionTypes];
/** Includes the quotes, which would be escaped within a string. */
const serverMarks = readTypes.map((type) => Buffer.from(`"${type}"`));
/** Longer messages are not parsed: the events of interest contain no audio, so they are shorter. */
const maxReadBytes = 1024 * 1024;
/**
 * How far from the beginning or end of a message its type is searched. OpenAI and Azure write it first; a server that sorts
 * members by name writes it last.
 */
const edgeBytes = 1024;
const createMarks = [Buffer.from('"response.create"')];

/**
 * Parses the few realtime events that Sluice needs: those that report the begin of a response, its usage, and the
 * transcription model. A search for their types near both ends of a message selects them; the others, mostly audio, are
 * not parsed. Source: OpenAI, API reference, "Realtime client events" and "Realtime server events".
 */
export const realtimeSession: SessionFormat = {
  protocol: 'realtime',
  // Azure's classic API uses `deployment`.
  modelParameters: ['model', 'deployment'],
  callParameter: 'call_id',
  readServerEvent(message) {
    const event = parseIfAny(message, serverMarks);
    if (event === null) return null;
    const { type, response, session } = event;
    if (type === 'response.created') return { kind: 'response-created', id: idOf(response) };
    if (type === 'response.done') return responseDone(response);
    if (type === transcribed) return { kind: 'transcribed', used: usedIn(event) };
    const isOfSession = typeof type === 'string' && sessionTypes.includes(type);
    return isOfSession ? { kind: 'session', transcribesWith: transcriptionModel(session) } : null;
  },
  readResponseCreate(message) {
    const event = parseIfAny(message, createMarks);
    if (event?.type !== 'response.create') return null;
    return { eventId: typeof event.event_id === 'string' ? event.event_id : '' };
  },
  answeredTokens(message) {
    const beginning = message.toString('latin1', 0, edgeBytes);
    if (!deltaType.test(beginning)) return 0;
    if (soundType.test(beginning)) return message.length / spokenBytesPerToken;
    const delta = message.length <= maxReadBytes ? parseObject(message.toString())?.delta : null;
    return typeof delta === 'string' ? estimateTokens(delta) : 0;
  },
  addedTokens(message) {
    const type = addedType.exec(message.toString('latin1', 0, edgeBytes))?.[1];
    if (type === undefined) return 0;
    return message.length / (type.startsWith('input_audio') ? heardBytesPerToken : bytesPerToken);
  },
  writeErrorEvent({ message, type, param, code }, eventId, causedBy) {
    const error = { type, code, message, param, event_id: causedBy };
    return JSON.stringify({ type: 'error', event_id: eventId, error });
  },
};

const deltaType = boundedPattern(/"type"\s*:\s*"response\.[\w.]{1,60}\.delta"/);
const soundType = boundedPattern(/"response\.(?:output_)?audio\.delta"/);
const addedType = boundedPattern(
  /"type"\s*:\s*"(input_audio_buffer\.append|conversation\.item\.create|session\.update)"/,
);
/** Sound of 24 kHz in 16 bits has 64,000 letters of base64 a second, and 20 tokens when it is said, 10 when it is heard. */
const spokenBytesPerToken = 3_200;
const heardBytesPerToken = 6_400;
const bytesPerToken = 4;

/** Null if none of the marks occurs near either end of the message. */
function parseIfAny(message: Buffer, marks: readonly Buffer[]): Record<string, unknown> | null {
  if (message.length > maxReadBytes) return null;
  const isShort = message.length <= 2 * edgeBytes;
  const edges = isShort ? [message] : [message.subarray(0, edgeBytes), message.subarray(-edgeBytes)];
  if (!marks.some((mark) => edges.some((edge) => edge.includes(mark)))) return null;
  return parseObject(message.toString());
}

function responseDone(response: unknown): ServerEvent {
  const fields = isObject(response) ? response : {};
  const details = isObject(fields.status_details) ? fields.status_details : {};
  const error = isObject(details.error) ? details.error : {};
  return {
    kind: 'response-done',
    id: idOf(response),
    hasFailed: fields.status === 'failed',
    errorCode: typeof error.code === 'string' ? error.code : null,
    used: usedIn(fields),
  };
}

function idOf(response: unknown): string {
  return isObject(response) && typeof response.id === 'string' ? response.id : '';
}

/** Reads `session.audio.input.transcription`, or `session.input_audio_transcription` from before 2025-08. */
function transcriptionModel(session: unknown): string | null {
  if (!isObject(session)) return null;
  const audio = isObject(session.audio) && isObject(session.audio.input) ? session.audio.input : {};
  const transcription = audio.transcription ?? session.input_audio_transcription;
  return isObject(transcription) && typeof transcription.model === 'string' ? transcription.model : null;
}

function usedIn({ usage: reported }: Record<string, unknown>): Usage | null {
  const reportedUsage = isObject(reported) ? toUsage(reported) : null;
  if (reportedUsage === null) return null;
  const { usage } = plausibleUsage(reportedUsage, unbounded);
  return Object.keys(usage).length === 0 ? null : usage;
}
