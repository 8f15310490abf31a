/** Reads the contents and candidates of Google's Gemini API, whose fields are written in camelCase or snake_case. */

import type { ShownMessage, ShownPart } from './conversation.ts';
import { type Json, objectOf, objectsOf, textOf } from './json-values.ts';
import { inputMessage } from './read-messages.ts';
import { callOf, mediaOfData, mediumOf, otherOf, resultOf, textPart } from './read-part.ts';

export function readContents(request: Json): ShownMessage[] {
  const system = readParts(objectOf(request.systemInstruction ?? request.system_instruction));
  return [
    ...(system.length > 0 ? [inputMessage('system', system)] : []),
    ...objectsOf(request.contents).map((content) =>
      inputMessage(content.role === 'model' ? 'assistant' : 'user', readParts(content)),
    ),
  ];
}

export function readCandidates(answer: Json): ShownMessage[] {
  return objectsOf(answer.candidates).map((candidate) => ({
    role: 'assistant',
    isAnswer: true,
    parts: readParts(objectOf(candidate.content)),
    stop: textOf(candidate.finishReason) || null,
  }));
}

function readParts(content: Json): ShownPart[] {
  return objectsOf(content.parts).flatMap(readPart);
}

function readPart(part: Json): ShownPart[] {
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
