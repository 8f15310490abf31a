/**
 * Reads the conversation of a request from its body and its answer. Also accepts what the engine would refuse, such as
 * a body that is truncated or has a field of the wrong type, because such requests are the ones that people inspect.
 * Pure.
 */
import { isObject } from '../is-object.ts';

/**
 * Null if neither contains messages.
 * @param request the body as JSON; null if it was not kept or is not JSON
 * @param answer the whole answer, assembled if it was a stream; null as above
 */
export function readConversation(request: unknown, answer: unknown): ShownConversation | null {
  const messages = [...readRequest(request), ...readAnswer(answer)];
  if (messages.every(({ parts }) => parts.length === 0)) return null;
  return { messages: withPairedCalls(messages), tools: readTools(objectOf(request).tools) };
}

/** The request's messages in order, with tool results where they were sent. Empty if there are none. */
export function readRequest(request: unknown): ShownMessage[] {
  if (!isObject(request)) return [];
  if (Array.isArray(request.messages)) return readMessages(request);
  if (Array.isArray(request.contents)) return readContents(request);
  if (request.input !== undefined) return readInput(request);
  // Images, videos and legacy completions.
  return typeof request.prompt === 'string' ? [inputMessage('user', textPart('text', request.prompt))] : [];
}

function readAnswer(answer: unknown): ShownMessage[] {
  if (!isObject(answer)) return [];
  if (Array.isArray(answer.choices)) return readChoices(answer);
  if (Array.isArray(answer.output)) return readOutput(answer);
  if (Array.isArray(answer.candidates)) return readCandidates(answer);
  if (answer.type === 'message') return readAnthropicAnswer(answer);
  const parts = [...objectsOf(answer.data).flatMap(readPicture), ...textPart('text', answer.text)];
  return parts.length > 0 ? [{ ...inputMessage('assistant', parts), isAnswer: true }] : [];
}

/** One image of the Images API. */
function readPicture(image: Json): ShownPart[] {
  if (typeof image.b64_json === 'string') return [mediaOfData('image/png', image.b64_json)];
  return typeof image.url === 'string' ? [mediaOfUrl('image', image.url)] : [];
}

function readTools(tools: unknown): ShownTool[] {
  return objectsOf(tools).flatMap((tool) => {
    const declared = objectsOf(tool.functionDeclarations ?? tool.function_declarations);
    const all = declared.length > 0 ? declared : [isObject(tool.function) ? tool.function : tool];
    return all.map(({ name, type, description }) => ({
      name: textOf(name) || textOf(type),
      description: textOf(description),
    }));
  });
}

/** Moves each result into its call. A call gets only the first result after it. */
function withPairedCalls(messages: readonly ShownMessage[]): ShownMessage[] {
  const waiting = new Map<string, ShownCall[]>();
  return messages.flatMap((message) => {
    const parts = message.parts.flatMap((part): ShownPart[] => {
      if (part.kind === 'call') waiting.set(part.id, [...(waiting.get(part.id) ?? []), part]);
      if (part.kind !== 'result') return [part];
      const call = waiting.get(part.callId)?.shift();
      if (!call) return [part];
      call.result = { parts: part.parts, isError: part.isError };
      return [];
    });
    return parts.length > 0 || message.isAnswer ? [{ ...message, parts }] : [];
  });
}

/** Reads requests and answers of OpenAI's Chat API and Anthropic's Messages API. */
function readMessages(request: Json): ShownMessage[] {
  const system = readContent(request.system);
  return [
    ...(system.length > 0 ? [inputMessage('system', system)] : []),
    ...objectsOf(request.messages).map((message) => inputMessage(roleOf(message), readMessage(message))),
  ];
}

/** The choices of a chat completion or legacy completion. */
function readChoices(answer: Json): ShownMessage[] {
  return objectsOf(answer.choices).map((choice) => ({
    role: 'assistant',
    isAnswer: true,
    parts: choice.message === undefined ? textPart('text', choice.text) : readMessage(objectOf(choice.message)),
    stop: textOf(choice.finish_reason) || null,
  }));
}

/** A message of Anthropic's API. */
function readAnthropicAnswer(answer: Json): ShownMessage[] {
  const stop = textOf(answer.stop_reason) || null;
  return [{ role: 'assistant', isAnswer: true, parts: readContent(answer.content), stop }];
}

function inputMessage(role: ShownMessage['role'], parts: ShownPart[]): ShownMessage {
  return { role, isAnswer: false, parts, stop: null };
}

function roleOf({ role }: Json): ShownMessage['role'] {
  if (role === 'assistant') return 'assistant';
  if (role === 'system' || role === 'developer') return 'system';
  return role === 'tool' || role === 'function' ? 'tool' : 'user';
}

function readMessage(message: Json): ShownPart[] {
  if (message.role === 'tool' || message.role === 'function')
    return [resultOf(textOf(message.tool_call_id) || textOf(message.name), message.content, false)];
  const calls = objectsOf(message.tool_calls).map((call) => readCall(call));
  const old = objectOf(message.function_call);
  return [
    ...textPart('thinking', message.reasoning_content ?? message.reasoning),
    ...readContent(message.content),
    ...textPart('refusal', message.refusal),
    ...objectsOf(message.images).map(({ image_url: url }) => mediaOfUrl('image', textOf(objectOf(url).url))),
    ...readSpoken(objectOf(message.audio)),
    ...calls,
    ...(old.name === undefined ? [] : [callOf(textOf(old.name), textOf(old.name), old.arguments)]),
  ];
}

function readCall(call: Json): ShownPart {
  const custom = objectOf(call.custom);
  const calledFunction = objectOf(call.function);
  if (call.custom !== undefined) return callOf(textOf(call.id), textOf(custom.name), custom.input);
  if (call.function === undefined) return otherOf(textOf(call.type), call);
  return callOf(textOf(call.id), textOf(calledFunction.name), calledFunction.arguments);
}

/** The model's speech. Its format is only in the request, but players detect it themselves. */
function readSpoken(audio: Json): ShownPart[] {
  const sound = textOf(audio.data) === '' ? [] : [mediaOfData('audio/wav', textOf(audio.data))];
  return [...sound, ...textPart('text', audio.transcript)];
}

/** Reads the contents and candidates of Google's Gemini API, whose fields are written in camelCase or snake_case. */
function readContents(request: Json): ShownMessage[] {
  const system = readGeminiParts(objectOf(request.systemInstruction ?? request.system_instruction));
  return [
    ...(system.length > 0 ? [inputMessage('system', system)] : []),
    ...objectsOf(request.contents).map((content) =>
      inputMessage(content.role === 'model' ? 'assistant' : 'user', readGeminiParts(content)),
    ),
  ];
}

function readCandidates(answer: Json): ShownMessage[] {
  return objectsOf(answer.candidates).map((candidate) => ({
    role: 'assistant',
    isAnswer: true,
    parts: readGeminiParts(objectOf(candidate.content)),
    stop: textOf(candidate.finishReason) || null,
  }));
}

function readGeminiParts(content: Json): ShownPart[] {
  return objectsOf(content.parts).flatMap(readGeminiPart);
}

function readGeminiPart(part: Json): ShownPart[] {
  const data = part.inlineData ?? part.inline_data;
  const file = objectOf(part.fileData ?? part.file_data);
  const call = objectOf(part.functionCall ?? part.function_call);
  const result = objectOf(part.functionResponse ?? part.function_response);
  if (typeof part.text === 'string') return textPart(part.thought === true ? 'thinking' : 'text', part.text);
  if (data !== undefined) {
    const { mimeType, mime_type: oldType, data: bytes, displayName } = objectOf(data);
    const mediaType = textOf(mimeType ?? oldType);
    return [mediaOfData(mediaType, textOf(bytes), textOf(displayName) || mediaType)];
  }
  const uri = textOf(file.fileUri ?? file.file_uri);
  if (uri !== '') {
    const medium = mediumOf(textOf(file.mimeType ?? file.mime_type));
    return [{ kind: 'media', medium, url: uri, name: textOf(file.displayName) || uri }];
  }
  // Only recent versions of the API have ids for calls. Without one, a result belongs to the call of the same name.
  if (call.name !== undefined) return [callOf(textOf(call.id) || textOf(call.name), textOf(call.name), call.args)];
  if (result.name !== undefined)
    return [resultOf(textOf(result.id) || textOf(result.name), result.response, 'error' in objectOf(result.response))];
  return [otherOf(Object.keys(part)[0] ?? '', part)];
}

/** Reads the input and output items of OpenAI's Responses API. */
function readInput(request: Json): ShownMessage[] {
  const instructions = readContent(request.instructions);
  const items = typeof request.input === 'string' ? [{ role: 'user', content: request.input }] : request.input;
  return [
    ...(instructions.length > 0 ? [inputMessage('system', instructions)] : []),
    ...objectsOf(items).map((item) => inputMessage(roleOfItem(item), readItem(item))),
  ];
}

/** Combines the items of a response into one message. */
function readOutput(answer: Json): ShownMessage[] {
  const parts = objectsOf(answer.output).flatMap(readItem);
  const stop = textOf(answer.status) || null;
  return [{ role: 'assistant', isAnswer: true, parts, stop }];
}

function roleOfItem(item: Json): ShownMessage['role'] {
  const type = textOf(item.type);
  if (type.endsWith('_output')) return 'tool';
  if (type !== '' && type !== 'message') return 'assistant';
  if (item.role === 'system' || item.role === 'developer') return 'system';
  return item.role === 'assistant' ? 'assistant' : 'user';
}

function readItem(item: Json): ShownPart[] {
  const type = textOf(item.type) || 'message';
  if (type === 'message') return readContent(item.content);
  if (type === 'reasoning') return thoughtsOf(item);
  const id = textOf(item.call_id) || textOf(item.id);
  if (type.endsWith('_output')) return [resultOf(id, item.output, false)];
  if (type === 'image_generation_call' && typeof item.result === 'string')
    return [mediaOfData(`image/${textOf(item.output_format) || 'png'}`, item.result)];
  if (!type.endsWith('_call')) return [otherOf(type, item)];
  const name = textOf(item.name) || type.slice(0, -'_call'.length);
  return [callOf(id, name, item.arguments ?? item.input ?? item.action ?? item.operation)];
}

// Reads one content part of OpenAI's Chat and Responses APIs or Anthropic's Messages API. Their type names differ,
// so the API need not be known.

/** A string or a list of parts. */
function readContent(content: unknown): ShownPart[] {
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

function callOf(id: string, name: string, input: unknown): ShownCall {
  return { kind: 'call', id, name, input: typeof input === 'string' ? input : jsonOf(input ?? {}), result: null };
}

function resultOf(callId: string, content: unknown, isError: boolean): ShownPart {
  const isContent = typeof content === 'string' || Array.isArray(content);
  const parts = isContent ? readContent(content) : content == null ? [] : readContent(jsonOf(content));
  return { kind: 'result', callId, parts, isError };
}

function otherOf(name: string, value: unknown): ShownPart {
  return { kind: 'other', name, json: jsonOf(value) };
}

function textPart(kind: 'text' | 'refusal' | 'thinking', text: unknown): ShownPart[] {
  return typeof text === 'string' && text !== '' ? [{ kind, text }] : [];
}

/** @param id the name if there is no URL */
function mediaOfUrl(medium: ShownMedia['medium'], url: string, id = ''): ShownMedia {
  const mediaType = /^data:([^;,]+)/.exec(url.slice(0, 200))?.[1];
  return { kind: 'media', medium, url: url || null, name: mediaType ?? (id || url.slice(0, 200)) };
}

function mediaOfData(mediaType: string, data: string, name = mediaType): ShownMedia {
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
function thoughtsOf(item: Json): ShownPart[] {
  return [...objectsOf(item.summary), ...objectsOf(item.content)].flatMap((part) => textPart('thinking', part.text));
}

// A conversation as it is shown, and what is read to make one.

/** A conversation as the inspector shows it, independent of the API. */
export interface ShownConversation {
  /** The request's messages in order, followed by those of the answer. */
  messages: ShownMessage[];
  /** The tools that the model could call. */
  tools: ShownTool[];
}

export interface ShownMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  /** Whether it is from the response. */
  isAnswer: boolean;
  parts: ShownPart[];
  /** Why the model stopped, in the API's terms; null if unknown. */
  stop: string | null;
}

export type ShownPart =
  | { kind: 'text' | 'refusal' | 'thinking'; text: string }
  | ShownCall
  | { kind: 'result'; callId: string; parts: ShownPart[]; isError: boolean }
  | ShownMedia
  /** Content specific to one API, as JSON. */
  | { kind: 'other'; name: string; json: string };

export interface ShownCall {
  kind: 'call';
  id: string;
  name: string;
  /** As the model wrote it, usually JSON. */
  input: string;
  /** Null if the request contains no result yet. */
  result: { parts: ShownPart[]; isError: boolean } | null;
}

export interface ShownMedia {
  kind: 'media';
  medium: 'image' | 'audio' | 'video' | 'file';
  /** A `data:` URL or the address; null if only the id is known. */
  url: string | null;
  /** The file name if known; otherwise the provider's id, the media type or the URL. */
  name: string;
}

export interface ShownTool {
  name: string;
  description: string;
}

/**
 * Where the newest turn begins: the index of the first message that the client added to what it had sent before: the one after the last answer that it
 * sends back. Null if it sends none back, or has added only results, which stand beside their calls.
 */
export function firstNewOf(messages: readonly Pick<ShownMessage, 'role' | 'isAnswer'>[]): number | null {
  const lastAnswered = messages.findLastIndex(({ role, isAnswer }) => role === 'assistant' && !isAnswer);
  const first = lastAnswered + 1;
  return lastAnswered === -1 || messages[first] === undefined || messages[first].isAnswer ? null : first;
}

/** Reads untrusted JSON: unexpected values become empty ones, and nothing is thrown. */
export type Json = Record<string, unknown>;

export const objectOf = (value: unknown): Json => (isObject(value) ? value : {});

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The elements of a list that are objects. */
export const objectsOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);

export const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);
