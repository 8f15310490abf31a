/** Collects the events of an answer into the whole. There is no other reader of whole answers, so that both say the same. */
import type { CallPart, Seal, ThinkingPart } from '../conversation.ts';
import type { Answer, AnswerError, AnswerEvent, AnswerPart, Citation, Stop, TokenUsage } from '../neutral-answer.ts';
import type { UpstreamTranslation } from './wire-translation.ts';

export class AnswerFold {
  #id = '';
  readonly #parts: AnswerPart[] = [];
  readonly #calls = new Map<number, CallPart>();
  #stop: Stop = { reason: 'end' };
  #usage: TokenUsage | null = null;
  readonly #citations: Citation[] = [];
  #error: AnswerError | null = null;

  take(event: AnswerEvent): void {
    switch (event.type) {
      case 'start':
        this.#id = event.id;
        return;
      case 'text':
      case 'refusal':
      case 'thinking':
        this.#say(event);
        return;
      case 'seal':
        this.#seal(event);
        return;
      case 'call':
        this.#begin(event);
        return;
      case 'arguments':
        this.#add(event.index, event.text);
        return;
      case 'call-end':
        if (event.isCut) this.#drop(event.index);
        return;
      case 'media':
        this.#parts.push(event.part);
        return;
      case 'foreign':
        this.#parts.push({ type: 'foreign', name: event.name, at: '' });
        return;
      case 'citation':
        this.#citations.push(event.citation);
        return;
      case 'stop':
        this.#stop = event.stop;
        return;
      case 'usage':
        this.#usage = event.usage;
        return;
      case 'error':
        this.#error = event.error;
        return;
      case 'passage':
      case 'source':
      case 'end':
    }
  }

  get error(): AnswerError | null {
    return this.#error;
  }

  get answer(): Answer {
    const citations = this.#citations.length === 0 ? {} : { citations: this.#citations };
    return { id: this.#id, parts: this.#parts, stop: this.#stop, usage: this.#usage, ...citations };
  }

  /** Text continues the part before it. */
  #say({ type, text }: Extract<AnswerEvent, { type: 'text' | 'refusal' | 'thinking' }>): void {
    if (type === 'thinking') {
      this.#openThought().text += text;
      return;
    }
    const last = this.#parts.at(-1);
    if (last?.type === type) last.text += text;
    else this.#parts.push({ type, text, at: '' });
  }

  /** The thought that has no seal yet. */
  #openThought(): ThinkingPart {
    const last = this.#parts.at(-1);
    if (last?.type === 'thinking' && last.seal === undefined) return last;
    const thought: ThinkingPart = { type: 'thinking', text: '', at: '' };
    this.#parts.push(thought);
    return thought;
  }

  #seal({ seal, call }: Extract<AnswerEvent, { type: 'seal' }>): void {
    if (call === undefined) this.#openThought().seal = seal;
    else {
      const sealed = this.#calls.get(call);
      if (sealed) sealed.seal = seal;
    }
  }

  /**
   * Puts the seal of the text that came last before it, where a client's API has a place for it: into the thought that led
   * to the text, or into one without words. False if something else came last.
   */
  sealText(seal: Seal): boolean {
    const last = this.#parts.at(-1);
    if (last?.type !== 'text') return false;
    const before = this.#parts.at(-2);
    if (before?.type === 'thinking' && before.seal === undefined) before.seal = seal;
    else this.#parts.splice(-1, 0, { type: 'thinking', text: '', seal, at: '' });
    return true;
  }

  #begin({ index, id, name, namespace, kind, ownType, seal }: Extract<AnswerEvent, { type: 'call' }>): void {
    const call: CallPart = { type: 'call', id, name, namespace, kind, ownType, seal, arguments: '', at: '' };
    this.#calls.set(index, call);
    this.#parts.push(call);
  }

  #add(index: number, text: string): void {
    const call = this.#calls.get(index);
    if (call) call.arguments += text;
  }

  #drop(index: number): void {
    const call = this.#calls.get(index);
    const at = call === undefined ? -1 : this.#parts.lastIndexOf(call);
    if (at !== -1) this.#parts.splice(at, 1);
  }
}

/** The events that a whole answer's stream would have brought; null if the body is not an answer of the upstream's API. */
export function eventsOfWhole(
  { wholeEvents, eventParser }: Pick<UpstreamTranslation, 'wholeEvents' | 'eventParser'>,
  body: unknown,
  turns: number,
): AnswerEvent[] | null {
  const values = wholeEvents(body);
  if (values === null) return null;
  const parser = eventParser(turns);
  const events = values.flatMap((value) => parser.push({ name: '', data: '', value }));
  return [...events, ...parser.end()];
}
