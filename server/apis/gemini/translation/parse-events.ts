/** Parses a stream of Gemini's API: each event is an answer with the next parts. */
import { isObject } from '../../../contract/is-object.ts';
import { tellErrorWithin } from '../../core/errors/verdict.ts';
import type { StreamEvent } from '../../core/sse-event.ts';
import { errorIn } from '../../core/upstream-error.ts';
import { answerPartEvents } from '../../neutral/answers/answer-events.ts';
import { EventUsage } from '../../neutral/answers/token-usage.ts';
import type { EventParser } from '../../neutral/answers/wire-translation.ts';
import { parseLosslessJson } from '../../neutral/json-text.ts';
import type { AnswerEvent, Stop } from '../../neutral/neutral-answer.ts';
import { geminiReports } from '../usage.ts';
import { answerId, blockOf, candidateOf, parsePart, partsOf } from './parse-answer.ts';
import { parseFinish } from './stops-and-usage.ts';

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
    return stop === null ? [] : [{ type: 'stop', stop }, { type: 'end' }];
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
    if (candidate.finishReason) this.#stop = { reason: parseFinish(candidate.finishReason) };
    return partsOf(candidate).flatMap((part) => {
      const index = this.#index++;
      const parts = parsePart(part, { answer: answerId(chunk, this.#turns), index });
      for (const { type } of parts) this.#onlyThought = type === 'thinking' && this.#onlyThought !== false;
      return parts.flatMap((each) => answerPartEvents(each, index));
    });
  }

  #takeUsage(chunk: Json): AnswerEvent[] {
    const { usageMetadata } = chunk;
    this.#hasCounted ||= isObject(usageMetadata) && Boolean(usageMetadata.thoughtsTokenCount);
    return this.#usage.eventsOf(chunk);
  }
}
