/** Parses a stream of Gemini's API: each event is an answer with the next parts. */
import { isObject } from '../../../contract/is-object.ts';
import { tellErrorWithin } from '../../core/errors/verdict.ts';
import type { StreamEvent } from '../../core/stream-format.ts';
import { errorIn } from '../../core/upstream-error.ts';
import type { EventParser } from '../../neutral/answers/wire-translation.ts';
import { parseLosslessJson, writeJson } from '../../neutral/json-text.ts';
import { kindOfMediaType, sourceOfData } from '../../neutral/media.ts';
import { type AnswerEvent, EventUsage, type Stop } from '../../neutral/neutral-answer.ts';
import { derivedCallId } from '../../neutral/requests/rendering.ts';
import { geminiReports, parseFinish } from '../usage.ts';
import { Grounding } from './grounding.ts';

type Json = Record<string, unknown>;

export class GenerateEventParser implements EventParser {
  readonly #turns: number;
  readonly #usage = new EventUsage(geminiReports);
  #hasBegun = false;
  #index = 0;
  #stop: Stop | null = null;
  /** True after only thoughts, false after other content, null before any content. */
  #onlyThought: boolean | null = null;
  #hasCounted = false;
  #grounding: Grounding | null = null;

  constructor(turns: number) {
    this.#turns = turns;
  }

  push({ value: parsed, data }: StreamEvent): AnswerEvent[] {
    // The arguments of a call are a part of the event, and keep the digits of their integers.
    const value = data.includes('"functionCall"') ? parseLosslessJson(data) : parsed;
    const chunk = Array.isArray(value) ? value[0] : value;
    if (!isObject(chunk)) return [];
    if (chunk.error) return [{ type: 'error', error: tellErrorWithin(errorIn(value)) }];
    return [...this.#begin(chunk), ...this.#takeParts(chunk), ...this.#takeUsage(chunk)];
  }

  /**
   * The stream ends only with its connection, because older models send STOP in each event. A stream without any finish
   * reason was cut off, unless it consists of thoughts and their count, which have none.
   */
  end(): AnswerEvent[] {
    const stop = this.#stop ?? (this.#onlyThought === true && this.#hasCounted ? ({ reason: 'end' } as const) : null);
    return stop === null ? [] : [...(this.#grounding?.events ?? []), { type: 'stop', stop }, { type: 'end' }];
  }

  #begin({ responseId }: Json): AnswerEvent[] {
    if (this.#hasBegun) return [];
    this.#hasBegun = true;
    return [{ type: 'start', id: typeof responseId === 'string' ? responseId : '' }];
  }

  #takeParts(chunk: Json): AnswerEvent[] {
    const candidate = candidateOf(chunk);
    if (candidate === null) {
      this.#stop = blockOf(chunk) ?? this.#stop;
      return [];
    }
    const parts = partsOf(candidate);
    if (isObject(candidate.groundingMetadata)) {
      this.#grounding ??= new Grounding();
      this.#grounding.take(candidate.groundingMetadata, parts);
    }
    const events = parts.flatMap((part) => {
      const index = this.#index++;
      const events = partEvents(part, { answer: answerId(chunk, this.#turns), index });
      const [first] = events;
      if (first) this.#onlyThought = isOfThought(first) && this.#onlyThought !== false;
      return events;
    });
    if (candidate.finishReason) this.#stop = parseFinish(candidate.finishReason, this.#onlyThought === false);
    return events;
  }

  #takeUsage(chunk: Json): AnswerEvent[] {
    const { usageMetadata } = chunk;
    this.#hasCounted ||= isObject(usageMetadata) && Boolean(usageMetadata.thoughtsTokenCount);
    return this.#usage.eventsOf(chunk);
  }
}

function isOfThought({ type }: AnswerEvent): boolean {
  return type === 'thinking' || type === 'seal';
}

/** Null if the prompt was not blocked: its feedback may also consist of ratings alone. */
function blockOf({ promptFeedback }: Json): Stop | null {
  const reason = isObject(promptFeedback) ? promptFeedback.blockReason : null;
  return reason ? { reason: 'filter', detail: String(reason) } : null;
}

function candidateOf({ candidates }: Json): Json | null {
  return (Array.isArray(candidates) ? candidates.find(isObject) : undefined) ?? null;
}

function partsOf({ content }: Json): Json[] {
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
function answerId({ responseId }: Json, turns: number): string {
  return typeof responseId === 'string' ? `${turns} ${responseId}` : String(turns);
}

function partEvents(part: Json, { answer, index }: PartPosition): AnswerEvent[] {
  const signature = typeof part.thoughtSignature === 'string' ? part.thoughtSignature : undefined;
  const seal = signature === undefined ? undefined : { kind: 'thought-signature' as const, data: signature };
  if (isObject(part.functionCall)) {
    const { id, name, args } = part.functionCall;
    const toolName = String(name ?? '');
    const callId = typeof id === 'string' && id !== '' ? id : derivedCallId(answer, index, toolName);
    return [
      { type: 'call', index, id: callId, name: toolName, kind: 'function', seal },
      { type: 'arguments', index, text: writeJson(args ?? {}) },
      { type: 'call-end', index },
    ];
  }
  return [...dataEvents(part), ...(seal === undefined ? [] : [{ type: 'seal' as const, seal }])];
}

function dataEvents({ text, thought, inlineData, ...rest }: Json): AnswerEvent[] {
  if (typeof text === 'string') return text === '' ? [] : [{ type: thought === true ? 'thinking' : 'text', text }];
  if (isObject(inlineData)) {
    const source = sourceOfData(String(inlineData.mimeType), String(inlineData.data));
    return [{ type: 'media', part: { type: 'media', kind: kindOfMediaType(source.mediaType), source, at: '' } }];
  }
  const [name] = Object.keys(rest).filter((key) => key !== 'thoughtSignature');
  return name === undefined ? [] : [{ type: 'foreign', name }];
}

/** A whole answer as an event. That to a blocked prompt has no candidates; without a reason it is whole all the same. */
export function generateEvents(body: unknown): Json[] | null {
  if (!isObject(body)) return null;
  const candidate = candidateOf(body);
  if (candidate === null && blockOf(body) !== null) return [body];
  if (candidate === null && !body.usageMetadata) return null;
  return [{ ...body, candidates: [{ ...candidate, finishReason: candidate?.finishReason ?? 'STOP' }] }];
}
