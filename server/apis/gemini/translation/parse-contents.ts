/** Parses the contents of a Gemini request into turns. */

import type { CallPart, MediaPart, Part, ResultPart, Seal, ThinkingPart, Turn } from '../../neutral/conversation.ts';
import type { Fields } from '../../neutral/fields.ts';
import { writeJson } from '../../neutral/json-text.ts';
import { invalid } from '../../neutral/losses.ts';
import { kindOfMediaType, mediaTypeOf, sourceOfData } from '../../neutral/media.ts';
import { envelopeOfNothing, placeholderSignature, unwrapSeals } from '../../neutral/requests/carried-reasoning.ts';

export function parseContents(request: Fields): Turn[] {
  const contents = request.items('contents');
  if (contents.length === 0) invalid('contents', 'expected at least one content');
  const calls = new CallsByName();
  const turns = contents.map((content): Turn => {
    const role = content.text('role') ?? 'user';
    if (role !== 'user' && role !== 'model' && role !== 'function')
      invalid(content.path('role'), 'it is not a valid role');
    const parts = content.items('parts').flatMap(parsePart);
    content.dropRest();
    for (const part of parts) calls.settle(part);
    return { role: role === 'model' ? 'assistant' : 'user', parts };
  });
  dropRepeatedThoughts(turns);
  return turns;
}

/**
 * A signature created by Sluice contains the preceding thoughts, for clients such as Gemini CLI that do not return
 * thoughts. Clients that do return them, such as the history of `@google/genai`, would duplicate them.
 */
function dropRepeatedThoughts(turns: readonly Turn[]): void {
  let isHeld = false;
  for (const turn of turns.toReversed()) {
    if (turn.role !== 'assistant') isHeld = false;
    else {
      const kept = turn.parts.toReversed().filter((part) => {
        if (part.type !== 'thinking') return true;
        if (part.seal?.text) isHeld = true;
        return part.seal !== undefined || !isHeld;
      });
      turn.parts = kept.reverse();
    }
  }
}

/** Clients may omit ids. A response then belongs to the first call of its function that has no response yet. */
class CallsByName {
  #count = 0;
  readonly #waiting = new Map<string, { ids: string[]; next: number }>();

  settle(part: Part): void {
    if (part.type === 'call') {
      part.id ||= `call_${this.#count}`;
      this.#count++;
      const waiting = this.#waiting.get(part.name);
      if (waiting) waiting.ids.push(part.id);
      else this.#waiting.set(part.name, { ids: [part.id], next: 0 });
    } else if (part.type === 'result') {
      const [id, name] = splitCallId(part.callId);
      const waiting = this.#waiting.get(name);
      part.callId = id || (waiting?.ids[waiting.next] ?? '');
      if (waiting) waiting.next++;
    }
  }
}

/** Until its call is found, a response is identified by its id, which may be empty, and its name. */
const separator = '\0';

function splitCallId(callId: string): [id: string, name: string] {
  const at = callId.indexOf(separator);
  return [callId.slice(0, at), callId.slice(at + 1)];
}

/** What stands where a call has no signature. */
const unsigned = new Set([placeholderSignature, envelopeOfNothing]);

export function parsePart(part: Fields): Part[] {
  const signature = part.text('thoughtSignature');
  const parts = parseData(part);
  part.drop('no-equal', 'videoMetadata', 'mediaResolution', 'partMetadata');
  if (parts.every(({ type }) => type !== 'foreign')) part.dropRest();
  return signature === undefined || unsigned.has(signature) ? parts : withSignature(parts, signature, part.at);
}

/** Gemini's own signature belongs to the call; signatures that Sluice put there are thoughts before the call. */
function withSignature(parts: Part[], signature: string, at: string): Part[] {
  const all = unwrapSeals(signature, 'thought-signature');
  const [call] = parts.filter((part) => part.type === 'call');
  const own = call && all.findLast(isOfCall);
  const seals = all.filter((seal) => seal !== own);
  const thoughts = seals.map(
    (seal): ThinkingPart => ({ type: 'thinking', text: seal.text ?? '', seal, at: `${at}.thoughtSignature` }),
  );
  return [...thoughts, ...parts.map((part) => (part === call && own ? { ...call, seal: own } : part))];
}

/** A signature that came without an envelope is Gemini's own, which it puts on the call. */
function isOfCall({ kind, origin, isOfCall: isTold }: Seal): boolean {
  return isTold === true || (kind === 'thought-signature' && origin === undefined);
}

function parseData(part: Fields): Part[] {
  const at = part.at;
  const text = part.text('text');
  const isThought = part.boolean('thought') ?? false;
  if (text !== undefined)
    return text === '' ? [] : [isThought ? { type: 'thinking', text, at } : { type: 'text', text, at }];
  const call = part.fields('functionCall');
  if (call) return [parseCall(call, at)];
  const response = part.fields('functionResponse');
  if (response) return [parseResponse(response, at)];
  const media = parseMedia(part);
  if (media) return [media];
  return parseServerTool(part);
}

/** Tools that Google runs. No other API has their calls, but code and results are part of the conversation. */
function parseServerTool(part: Fields): Part[] {
  const { at } = part;
  const code = part.fields('executableCode');
  const result = part.object('codeExecutionResult') ?? part.object('toolResponse');
  if (code === undefined && result === undefined)
    return part.any('toolCall') === undefined ? [] : [{ type: 'foreign', name: 'toolCall', at }];
  part.losses.emulated(at, 'as-text');
  const text =
    code === undefined ? `Result of the tool:\n${writeJson(result)}` : `\`\`\`\n${code.text('code') ?? ''}\n\`\`\``;
  return [{ type: 'text', text, isApart: true, at }];
}

function parseCall(call: Fields, at: string): CallPart {
  const id = call.text('id') ?? '';
  const callArguments = writeJson(call.object('args') ?? {});
  const part: CallPart = {
    type: 'call',
    id,
    name: call.requiredText('name'),
    arguments: callArguments,
    kind: 'function',
    at,
  };
  call.dropRest();
  return part;
}

/** By Google's convention the result is in `output` or `error`; otherwise the whole object is the result. */
function parseResponse(response: Fields, at: string): ResultPart {
  const { output, error, ...rest } = response.object('response') ?? {};
  const isAlone = Object.keys(rest).length === 0;
  const isOnlyOne = isAlone && (output === undefined || error === undefined);
  const result = (isOnlyOne ? (output ?? error) : undefined) ?? response.object('response');
  const text = typeof result === 'string' ? result : writeJson(result ?? {});
  const others = response.items('parts').flatMap((part) => {
    const media = parseMedia(part);
    part.dropRest();
    return media ?? [];
  });
  const callId = `${response.text('id') ?? ''}${separator}${response.requiredText('name')}`;
  response.drop('no-equal', 'willContinue', 'scheduling');
  response.dropRest();
  const texts = text === '' ? [] : [{ type: 'text' as const, text, at }];
  return {
    type: 'result',
    callId,
    parts: [...texts, ...others],
    isError: isAlone && error !== undefined && output === undefined,
    at,
  };
}

function parseMedia(part: Fields): MediaPart | undefined {
  const inline = part.fields('inlineData');
  const file = part.fields('fileData');
  const label = inline?.text('mimeType') ?? file?.text('mimeType');
  const name = inline?.text('displayName') ?? file?.text('displayName');
  const at = part.at;
  if (inline) {
    const source = sourceOfData(label ?? 'image/png', inline.requiredText('data'));
    return { type: 'media', kind: kindOfMediaType(source.mediaType), source, name, at };
  }
  if (!file) return undefined;
  const mediaType = label === undefined ? undefined : mediaTypeOf(label);
  const url = file.requiredText('fileUri');
  const isGoogleUrl = url.startsWith('gs://') || url.startsWith(filesApi);
  return {
    type: 'media',
    kind: mediaType === undefined ? 'image' : kindOfMediaType(mediaType),
    source: isGoogleUrl ? { type: 'file', id: url, mediaType } : { type: 'url', url, mediaType },
    name,
    at,
  };
}

const filesApi = 'https://generativelanguage.googleapis.com/';
