/** Parses a whole answer of Gemini's API. */
import { isObject } from '../../../contract/is-object.ts';
import { tellErrorWithin } from '../../core/errors/verdict.ts';
import { errorIn } from '../../core/upstream-error.ts';
import { usageOf } from '../../neutral/answers/token-usage.ts';
import { writeJson } from '../../neutral/json-text.ts';
import { kindOfMediaType } from '../../neutral/media.ts';
import type { Answer, AnswerPart, Stop } from '../../neutral/neutral-answer.ts';
import { derivedCallId } from '../../neutral/requests/call-ids.ts';
import { geminiReports } from '../usage.ts';
import { parseFinish } from './stops-and-usage.ts';

type Json = Record<string, unknown>;

/** Null if the body is not an answer. The answer to a blocked prompt has no candidates. */
export function parseGenerateAnswer(body: unknown, turns: number): Answer | null {
  if (!isObject(body)) return null;
  const candidate = candidateOf(body);
  const block = candidate === null ? blockOf(body) : null;
  if (candidate === null && block === null && !body.usageMetadata) return null;
  const parts =
    candidate === null
      ? []
      : partsOf(candidate).flatMap((part, index) => parsePart(part, { answer: answerId(body, turns), index }));
  const answer: Answer = {
    id: typeof body.responseId === 'string' ? body.responseId : '',
    parts,
    stop: block ?? { reason: parseFinish(candidate?.finishReason) },
    usage: usageOf(body, geminiReports),
  };
  return body.error ? { ...answer, error: tellErrorWithin(errorIn(body)) } : answer;
}

/** Null if the prompt was not blocked: its feedback may also consist of ratings alone. */
export function blockOf({ promptFeedback }: Json): Stop | null {
  const reason = isObject(promptFeedback) ? promptFeedback.blockReason : null;
  return reason ? { reason: 'filter', detail: String(reason) } : null;
}

export function candidateOf({ candidates }: Json): Json | null {
  return (Array.isArray(candidates) ? candidates.find(isObject) : undefined) ?? null;
}

export function partsOf({ content }: Json): Json[] {
  return isObject(content) && Array.isArray(content.parts) ? content.parts.filter(isObject) : [];
}

/** The position of a part, from which the id of a call without one is derived. */
interface PartPosition {
  answer: string;
  index: number;
}

/**
 * Distinguishes an answer from those of all conversations, because reasoning that clients do not return is stored by
 * call id.
 */
export function answerId({ responseId }: Json, turns: number): string {
  return typeof responseId === 'string' ? `${turns} ${responseId}` : String(turns);
}

export function parsePart(part: Json, { answer, index }: PartPosition): AnswerPart[] {
  const signature = typeof part.thoughtSignature === 'string' ? part.thoughtSignature : undefined;
  const seal = signature === undefined ? undefined : { kind: 'thought-signature' as const, data: signature };
  if (isObject(part.functionCall)) {
    const { id, name, args } = part.functionCall;
    const toolName = String(name ?? '');
    const callId = typeof id === 'string' && id !== '' ? id : derivedCallId(answer, index, toolName);
    return [
      { type: 'call', id: callId, name: toolName, arguments: writeJson(args ?? {}), kind: 'function', seal, at: '' },
    ];
  }
  const sealed: AnswerPart[] = seal === undefined ? [] : [{ type: 'thinking', text: '', seal, at: '' }];
  return [...parseData(part), ...sealed];
}

function parseData({ text, thought, inlineData, ...rest }: Json): AnswerPart[] {
  if (typeof text === 'string') {
    if (text === '') return [];
    return [thought === true ? { type: 'thinking', text, at: '' } : { type: 'text', text, at: '' }];
  }
  if (isObject(inlineData)) {
    const mediaType = String(inlineData.mimeType);
    const source = { type: 'base64' as const, mediaType, data: String(inlineData.data) };
    return [{ type: 'media', kind: kindOfMediaType(mediaType), source, at: '' }];
  }
  const [name] = Object.keys(rest).filter((key) => key !== 'thoughtSignature');
  return name === undefined ? [] : [{ type: 'foreign', name, at: '' }];
}
