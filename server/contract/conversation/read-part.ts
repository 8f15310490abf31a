/**
 * Reads one content part of OpenAI's Chat and Responses APIs or Anthropic's Messages API. Their type names differ, so
 * the API need not be known.
 */

import {
  type Json,
  objectOf,
  objectsOf,
  type ShownCall,
  type ShownMedia,
  type ShownPart,
  textOf,
} from './conversation.ts';

/** A string or a list of parts. */
export function readContent(content: unknown): ShownPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }];
  return (Array.isArray(content) ? content : []).flatMap((part: unknown) =>
    typeof part === 'string' ? readContent(part) : readPart(objectOf(part)),
  );
}

function readPart(part: Json): ShownPart[] {
  const type = textOf(part.type) || 'text';
  switch (type) {
    case 'text':
    case 'input_text':
    case 'output_text':
    case 'summary_text':
    case 'reasoning_text':
      return textPart('text', part.text);
    case 'refusal':
      return textPart('refusal', part.refusal);
    case 'thinking':
      return textPart('thinking', part.thinking);
    case 'image_url':
    case 'input_image':
      return [
        mediaOfUrl('image', textOf(objectOf(part.image_url).url) || textOf(part.image_url), textOf(part.file_id)),
      ];
    case 'input_audio':
      return [readSound(objectOf(part.input_audio))];
    case 'file':
    case 'input_file':
      return [readFile({ ...part, ...objectOf(part.file) })];
    case 'image':
    case 'document':
      return [readSource(type, part)];
    case 'tool_use':
    case 'server_tool_use':
      return [callOf(textOf(part.id), textOf(part.name), part.input)];
    case 'tool_result':
      return [resultOf(textOf(part.tool_use_id), part.content, part.is_error === true)];
    default:
      return [otherOf(type, part)];
  }
}

export function callOf(id: string, name: string, input: unknown): ShownCall {
  return { kind: 'call', id, name, input: typeof input === 'string' ? input : jsonOf(input ?? {}), result: null };
}

export function resultOf(callId: string, content: unknown, isError: boolean): ShownPart {
  const isContent = typeof content === 'string' || Array.isArray(content);
  const parts = isContent ? readContent(content) : content == null ? [] : readContent(jsonOf(content));
  return { kind: 'result', callId, parts, isError };
}

export function otherOf(name: string, value: unknown): ShownPart {
  return { kind: 'other', name, json: jsonOf(value) };
}

export function textPart(kind: 'text' | 'refusal' | 'thinking', text: unknown): ShownPart[] {
  return typeof text === 'string' && text !== '' ? [{ kind, text }] : [];
}

/** @param id the name if there is no URL */
export function mediaOfUrl(medium: ShownMedia['medium'], url: string, id = ''): ShownMedia {
  const mediaType = /^data:([^;,]+)/.exec(url.slice(0, 200))?.[1];
  return { kind: 'media', medium, url: url || null, name: mediaType ?? (id || url.slice(0, 200)) };
}

export function mediaOfData(mediaType: string, data: string, name = mediaType): ShownMedia {
  return { kind: 'media', medium: mediumOf(mediaType), url: `data:${mediaType};base64,${data}`, name };
}

export function mediumOf(mediaType: string): ShownMedia['medium'] {
  const kind = mediaType.slice(0, mediaType.indexOf('/'));
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'file';
}

function readSound(sound: Json): ShownMedia {
  return mediaOfData(`audio/${textOf(sound.format) || 'wav'}`, textOf(sound.data));
}

function readFile(file: Json): ShownMedia {
  const url = textOf(file.file_data) || textOf(file.file_url);
  const name = textOf(file.filename) || textOf(file.file_id) || url.slice(0, 200);
  const mediaType = /^data:([^;,]+)/.exec(url.slice(0, 200))?.[1] ?? '';
  return { kind: 'media', medium: mediumOf(mediaType), url: url || null, name };
}

/** Anthropic's images and documents. */
function readSource(type: 'image' | 'document', part: Json): ShownPart {
  const source = objectOf(part.source);
  const name = textOf(part.title);
  if (source.type === 'base64')
    return mediaOfData(textOf(source.media_type), textOf(source.data), name || textOf(source.media_type));
  if (source.type === 'text') return { kind: 'text', text: textOf(source.data) };
  if (source.type === 'content') return otherOf(name || type, source.content);
  const medium = type === 'image' ? 'image' : 'file';
  return { kind: 'media', medium, url: textOf(source.url) || null, name: name || textOf(source.file_id) };
}

const jsonOf = (value: unknown) => JSON.stringify(value, null, 2);

/** The texts of a reasoning item, those of its summary first. */
export function thoughtsOf(item: Json): ShownPart[] {
  return [...objectsOf(item.summary), ...objectsOf(item.content)].flatMap((part) => textPart('thinking', part.text));
}
