/** Renders a stream of Gemini's API. Its clients expect whole calls, so each is sent once it is complete. */

import type { AnswerContext, EventRenderer } from '../../neutral/answers/wire-translation.ts';
import type { CallPart, MediaPart, Seal } from '../../neutral/conversation.ts';
import { GrowingText, RawJson, TextParts, writeJson } from '../../neutral/json-text.ts';
import { pictureAsText } from '../../neutral/media.ts';
import type {
  Answer,
  AnswerError,
  AnswerEvent,
  CallEvent,
  Citation,
  DeltaEvent,
  Stop,
  TokenUsage,
} from '../../neutral/neutral-answer.ts';
import { envelopeOfNothing, wrapSeals } from '../../neutral/requests/carried-reasoning.ts';
import { renderFinish, renderUsageMetadata } from '../usage.ts';
import { writeGeminiError } from '../write-error.ts';
import { renderGrounding } from './grounding.ts';

type Json = Record<string, unknown>;

export class GenerateEventRenderer implements EventRenderer {
  readonly #context: AnswerContext;
  #id = '';
  #call: CallEvent | null = null;
  #hasCalled = false;
  #arguments = new GrowingText();
  #thought = new GrowingText();
  /** Seals for the next part that is not a thought. */
  #seals: Seal[] = [];
  #usage: TokenUsage | null = null;
  /** The text before and after the variable part of an event with a text or a thought. */
  readonly #textsAround: { text?: string[]; thinking?: string[] } = {};
  #stop: Stop = { reason: 'end' };
  readonly #citations: Citation[] = [];

  constructor(context: AnswerContext) {
    this.#context = context;
  }

  push(event: AnswerEvent): string {
    switch (event.type) {
      case 'start':
        this.#id = event.id;
        return '';
      case 'text':
      case 'refusal':
        return this.#say({ text: event.text });
      case 'media':
        return this.#say(mediaPart(event.part));
      case 'thinking':
        this.#thought.add(event.text);
        return this.#think(event.text);
      case 'seal':
        this.#seal(event);
        return '';
      case 'call':
        this.#call = event;
        this.#arguments = new GrowingText();
        return '';
      case 'arguments':
        this.#arguments.add(event.text);
        return '';
      case 'call-end':
        return this.#call === null || event.isCut ? '' : this.#sayCall(this.#call);
      case 'stop':
        this.#stop = event.stop;
        return '';
      case 'citation':
        this.#citations.push(event.citation);
        return '';
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'error':
        return this.fail(event.error);
      case 'end':
        return this.#end();
      default:
        return '';
    }
  }

  fail(error: AnswerError): string {
    return `data: ${writeGeminiError(error)}\r\n\r\n`;
  }

  /** A separate event: Google's SDK would miss an event to which a comment is attached. */
  readonly ping = ': ping\n\n';

  /** Nearly all events are of these kinds, so only their text is serialised. */
  renderDelta({ type }: DeltaEvent, escaped: string): string | null {
    if (type === 'arguments') {
      this.#arguments.addEscaped(escaped);
      return '';
    }
    if (type === 'text' && this.#seals.length > 0) return null;
    if (type === 'thinking') this.#thought.addEscaped(escaped);
    this.#textsAround[type] ??= (type === 'text' ? this.#say({ text: mark }) : this.#think(mark)).split(mark);
    const [before = '', after = ''] = this.#textsAround[type];
    return before + escaped + after;
  }

  #seal({ seal, call }: Extract<AnswerEvent, { type: 'seal' }>): void {
    if (call !== undefined) {
      if (this.#call?.index === call) this.#call = { ...this.#call, seal };
      return;
    }
    this.#seals.push({ ...seal, text: this.#thought.text });
    this.#thought = new GrowingText();
  }

  #think(text: string): string {
    return this.#chunk({ content: { role: 'model', parts: [{ text, thought: true }] } });
  }

  #say(part: Json): string {
    const parts = [{ ...part, ...signatureOf(this.#seals) }];
    this.#seals = [];
    return this.#chunk({ content: { role: 'model', parts } });
  }

  #sayCall(call: CallEvent): string {
    if (call.seal) this.#seals.push(call.seal);
    const mark = this.#hasCalled ? {} : unsigned;
    this.#hasCalled = true;
    return this.#say({ ...mark, ...callPart(call, this.#arguments.text) });
  }

  #end(): string {
    const parts = [{ text: '', ...signatureOf(this.#seals) }];
    const usageMetadata = this.#usage === null ? undefined : renderUsageMetadata(this.#usage);
    const groundingMetadata = renderGrounding(this.#citations);
    return this.#chunk(
      { content: { role: 'model', parts }, finishReason: renderFinish(this.#stop.reason), groundingMetadata },
      usageMetadata,
    );
  }

  #chunk(candidate: Json, usageMetadata?: Json): string {
    const { model } = this.#context.conversation;
    const candidates = [{ ...candidate, index: 0 }];
    return `data: ${writeJson({ candidates, usageMetadata, modelVersion: model, responseId: this.#id })}\r\n\r\n`;
  }
}

/** Placeholder for the text while the surrounding JSON is rendered. No model or id contains it. */
const mark = '\u{f8ff}text\u{f8ff}';

/** Renders a whole answer of Gemini's API. */
export function renderGenerateAnswer(answer: Answer, context: AnswerContext): Json {
  const parts: Json[] = [];
  let seals: Seal[] = [];
  const texts = new TextParts<number>();
  for (const part of answer.parts) {
    if (part.type === 'thinking') {
      if (part.text !== '') parts.push({ text: part.text, thought: true });
      if (part.seal) seals.push({ ...part.seal, text: part.text });
      continue;
    }
    if (part.type === 'foreign') continue;
    if (part.type === 'call' && part.seal) seals.push(part.seal);
    const rendered =
      part.type === 'call'
        ? callPart(part, part.arguments)
        : part.type === 'media'
          ? mediaPart(part)
          : { text: part.text };
    if (part.type === 'text' || part.type === 'media') {
      texts.begin(parts.length);
      texts.add(Buffer.byteLength(part.type === 'text' ? part.text : pictureAsText(part)));
    }
    const isFirstCall = part.type === 'call' && !parts.some((each) => 'functionCall' in each);
    parts.push({ ...(isFirstCall ? unsigned : {}), ...rendered, ...signatureOf(seals) });
    seals = [];
  }
  if (seals.length > 0) parts.push({ text: '', ...signatureOf(seals) });
  const groundingMetadata = renderGrounding(answer.citations, texts);
  const finishReason = renderFinish(answer.stop.reason);
  return {
    candidates: [{ content: { role: 'model', parts }, finishReason, index: 0, groundingMetadata }],
    usageMetadata: answer.usage === null ? undefined : renderUsageMetadata(answer.usage),
    modelVersion: context.conversation.model,
    responseId: answer.id,
  };
}

/** Gemini 3 refuses a turn whose first call has no signature, and by this mark such a turn is recognised later. */
const unsigned: Json = { thoughtSignature: envelopeOfNothing };

/** Clients return the signature of a call or a text, but no thoughts. That of the call itself comes last. */
function signatureOf(seals: readonly Seal[]): Json {
  return seals.length === 0 ? {} : { thoughtSignature: wrapSeals(seals) };
}

function callPart({ id, name }: Pick<CallPart, 'id' | 'name'>, callArguments: string): Json {
  return { functionCall: { id, name, args: new RawJson(callArguments) } };
}

function mediaPart({ source }: MediaPart): Json {
  if (source.type === 'base64') return { inlineData: { mimeType: source.mediaType, data: source.data } };
  return { text: source.type === 'url' ? `![](${source.url})` : '' };
}
