/** The type of a captured body, which determines how it is shown. Pure. */
import type { CapturedMessage } from '../capture.ts';
import type { CapturedBody } from '../request-views.ts';
import {
  type AssembledStream,
  assembleChunkList,
  assembleStream,
  isEventStream,
  readStreamEvents,
} from './assemble-stream.ts';
import type { ShownPart } from './conversation.ts';
import { parseTruncatedJson } from './parse-truncated-json.ts';
import { readConversation } from './read-conversation.ts';
import { mediumOf } from './read-part.ts';

export type BodyContent =
  | { kind: 'json'; text: string }
  | { kind: 'text'; text: string }
  /** `assembled` is null for a stream that is not a conversation. */
  | { kind: 'stream'; text: string; assembled: AssembledStream | null }
  | { kind: 'media'; medium: 'image' | 'audio' | 'video'; mediaType: string; base64: string }
  | { kind: 'binary'; mediaType: string; base64: string };

type Message = Pick<CapturedMessage<CapturedBody>, 'headers' | 'body'>;

/** Null if there is no body. */
export function contentOf({ headers, body }: Message): BodyContent | null {
  if (!body || body.data === '') return null;
  const contentType = headerOf(headers, 'content-type');
  if (body.encoding === 'base64') {
    const mediaType = contentType?.split(';')[0]?.trim() || 'application/octet-stream';
    const medium = mediumOf(mediaType);
    return medium === 'file'
      ? { kind: 'binary', mediaType, base64: body.data }
      : { kind: 'media', medium, mediaType, base64: body.data };
  }
  const text = body.data;
  if (isEventStream(text, contentType))
    return { kind: 'stream', text, assembled: assembleStream(readStreamEvents(text)) };
  return { kind: looksLikeJson(text) ? 'json' : 'text', text };
}

/** The whole answer or request as a JSON value; null if it is not JSON. */
export function jsonValueOf(content: BodyContent | null): unknown {
  if (content?.kind === 'stream') return content.assembled?.answer ?? null;
  return content?.kind === 'json' ? assembleChunkList(parseTruncatedJson(content.text)?.value ?? null) : null;
}

function headerOf(headers: Message['headers'], name: string): string | null {
  return headers?.find(([each]) => each.toLowerCase() === name)?.[1] ?? null;
}

/** Whether a text starts like a JSON object or array; it may be truncated. */
export function looksLikeJson(text: string): boolean {
  return /^[ \n\r\t]*[{[]/.test(text);
}

/**
 * The text of an answer. Pure.
 *
 * Null if there is no text to compare, as for audio.
 */
export function answerTextOf(content: BodyContent | null): string | null {
  return saidTextOf(content) ?? (content && 'text' in content ? content.text : null);
}

/** What a model said in an answer; null for other answers, such as errors. */
export function saidTextOf(content: BodyContent | null): string | null {
  const conversation = readConversation(null, jsonValueOf(content));
  return conversation?.messages.flatMap(({ parts }) => parts.map(textOfPart)).join('\n\n') ?? null;
}

function textOfPart(part: ShownPart): string {
  switch (part.kind) {
    case 'text':
    case 'refusal':
    case 'thinking':
      return part.text;
    case 'call':
      return `${part.name}(${part.input})`;
    case 'media':
      return `[${part.medium} ${part.name}]`;
    case 'result':
      return part.parts.map(textOfPart).join('\n');
    case 'other':
      return part.json;
  }
}
