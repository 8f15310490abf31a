/** Reads an answer of one API that has been received completely, whole or as a stream. */
import { isObject } from '../../contract/is-object.ts';
import { linesOf, readEvent, type StreamEvent } from '../core/sse-event.ts';
import { isTooDeep, parseJson } from '../neutral/json-text.ts';
import type { CallPart, WireName } from '../neutral/neutral.ts';
import type { AnswerError, AnswerEvent, AnswerPart, Stop } from '../neutral/neutral-answer.ts';
import { wireTranslations } from './wire-translations.ts';

/** The parts and the end of an answer. */
export interface ReadAnswer {
  parts: AnswerPart[];
  /** Null for a stream that ended without a stop reason. */
  stop: Stop | null;
  /** Set if the answer is an error, or ended with one. */
  error: AnswerError | null;
}

/** Null if the text is not an answer of the wire, or is nested too deeply. */
export function readAnswer(wire: WireName, text: string): ReadAnswer | null {
  const value = parseJson(text);
  if (Array.isArray(value)) return readEvents(wire, value.map(asEvent));
  if (value === undefined) return readEvents(wire, eventsIn(text));
  const answer = isTooDeep(value) ? null : wireTranslations[wire].parseAnswer(value, 0);
  if (answer !== null) return { parts: answer.parts, stop: answer.stop, error: answer.error ?? null };
  return null;
}

/** An element of Gemini's stream without `alt=sse`, which is one JSON array. */
function asEvent(value: unknown): StreamEvent {
  return { name: '', data: '', value };
}

function eventsIn(text: string): StreamEvent[] {
  const events: StreamEvent[] = [];
  let lines: string[] = [];
  for (const line of linesOf(text)) {
    if (line !== '') lines.push(line);
    else if (lines.length > 0) {
      const event = readEvent(lines.join('\n'));
      if (event && (event.data !== '' || event.name !== '')) events.push(event);
      lines = [];
    }
  }
  return events;
}

function readEvents(wire: WireName, events: readonly StreamEvent[]): ReadAnswer | null {
  if (!events.some(({ value }) => isObject(value)) || events.some(({ value }) => isTooDeep(value))) return null;
  const parser = wireTranslations[wire].eventParser(0);
  const collected = new CollectedAnswer();
  for (const event of events) for (const answerEvent of parser.push(event)) collected.take(answerEvent);
  for (const answerEvent of parser.end()) collected.take(answerEvent);
  return collected;
}

class CollectedAnswer implements ReadAnswer {
  readonly parts: AnswerPart[] = [];
  stop: Stop | null = null;
  error: AnswerError | null = null;
  readonly #calls = new Map<number, CallPart>();

  take(event: AnswerEvent): void {
    switch (event.type) {
      case 'text':
      case 'thinking':
      case 'refusal':
        this.#say(event.type, event.text);
        break;
      case 'call': {
        const { type, id, name, namespace, kind } = event;
        const call: CallPart = { type, id, name, namespace, kind, arguments: '', at: '' };
        this.#calls.set(event.index, call);
        this.parts.push(call);
        break;
      }
      case 'arguments': {
        const call = this.#calls.get(event.index);
        if (call) call.arguments += event.text;
        break;
      }
      case 'media':
        this.parts.push(event.part);
        break;
      case 'foreign':
        this.parts.push({ type: 'foreign', name: event.name, at: '' });
        break;
      case 'stop':
        this.stop = event.stop;
        break;
      case 'error':
        this.error = event.error;
    }
  }

  #say(type: 'text' | 'thinking' | 'refusal', text: string): void {
    const before = this.parts.at(-1);
    if (before?.type === type) before.text += text;
    else this.parts.push({ type, text, at: '' });
  }
}
