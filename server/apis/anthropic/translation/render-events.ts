/**
 * Renders a stream of Anthropic's API as its strictest clients expect it: each event is named, block indexes have no
 * gaps, only one block is open at a time, `message_delta` has the complete usage, and a broken stream has no end event.
 */

import type { AnswerContext, EventRenderer } from '../../neutral/answers/wire-translation.ts';
import type { Seal } from '../../neutral/conversation.ts';
import { escapeText, RawJson } from '../../neutral/json-text.ts';
import { pictureAsText } from '../../neutral/media.ts';
import type {
  Answer,
  AnswerError,
  AnswerEvent,
  AnswerPart,
  CallEvent,
  DeltaEvent,
  Stop,
  TokenUsage,
} from '../../neutral/neutral-answer.ts';
import { envelopeOfNothing, wrapSeal } from '../../neutral/requests/carried-reasoning.ts';
import { renderStop, renderUsage, writeAnthropicError } from '../messages.ts';

type Json = Record<string, unknown>;
type OpenBlock = 'text' | 'thinking' | 'call';

/** The members of each kind of delta, and the block that it belongs to. */
const deltas: Record<DeltaEvent['type'], { member: string; block: OpenBlock }> = {
  text: { member: '"text_delta","text"', block: 'text' },
  thinking: { member: '"thinking_delta","thinking"', block: 'thinking' },
  arguments: { member: '"input_json_delta","partial_json"', block: 'call' },
};

const signatureDelta = '"signature_delta","signature"';

const emptyText: Json = { type: 'text', text: '' };
const emptyThought: Json = { type: 'thinking', thinking: '', signature: '' };

export class MessagesEventRenderer implements EventRenderer {
  readonly #context: AnswerContext;
  #index = -1;
  #open: OpenBlock | null = null;
  /** The open thought has no signature so far. */
  #isUnsigned = false;
  #hasBegun = false;
  #id = '';
  #usage: TokenUsage | null = null;
  #stop: Stop = { reason: 'end' };
  #out = '';

  constructor(context: AnswerContext) {
    this.#context = context;
  }

  push(event: AnswerEvent): string {
    this.#out = '';
    this.#take(event);
    return this.#out;
  }

  fail(error: AnswerError): string {
    return `event: error\ndata: ${writeAnthropicError(error)}\n\n`;
  }

  readonly ping = 'event: ping\ndata: {"type":"ping"}\n\n';

  /**
   * The first event is delayed until there is content, so that it can include usage that the upstream reports early.
   */
  #take(event: AnswerEvent): void {
    if (event.type === 'start') this.#id = event.id;
    else if (event.type === 'usage') this.#usage = event.usage;
    else if (event.type === 'stop') this.#stop = event.stop;
    else if (event.type === 'error') this.#out += this.fail(event.error);
    else {
      if (!this.#hasBegun) this.#begin();
      if (event.type === 'end') this.#end();
      else this.#takeContent(event);
    }
  }

  #takeContent(event: AnswerEvent): void {
    if (event.type === 'text' || event.type === 'refusal') {
      this.#enter('text', emptyText);
      this.#delta(deltas.text.member, event.text);
    } else if (event.type === 'thinking') {
      this.#enter('thinking', emptyThought);
      this.#isUnsigned = true;
      this.#delta(deltas.thinking.member, event.text);
    } else if (event.type === 'seal') this.#seal(event.seal);
    else if (event.type === 'call') this.#beginCall(event);
    else if (event.type === 'arguments') this.#delta(deltas.arguments.member, event.text);
    else if (event.type === 'call-end') this.#close();
    else if (event.type === 'media') {
      this.#enter('text', emptyText);
      this.#delta(deltas.text.member, pictureAsText(event.part));
    }
  }

  #begin(): void {
    this.#hasBegun = true;
    const message = {
      id: messageId(this.#id),
      type: 'message',
      role: 'assistant',
      model: this.#context.conversation.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...renderUsage(this.#usage, this.#context), output_tokens: 1 },
    };
    this.#write('message_start', { message });
  }

  /** Text continues the block that is open for it; anything else opens a new one. */
  #enter(kind: OpenBlock, block: Json): void {
    if (this.#open === kind) return;
    this.#close();
    this.#index++;
    this.#open = kind;
    this.#write('content_block_start', { index: this.#index, content_block: block });
  }

  #beginCall({ id, name }: CallEvent): void {
    this.#close();
    this.#enter('call', { type: 'tool_use', id, name, input: {} });
  }

  #seal(seal: Seal): void {
    if (seal.kind === 'redacted') {
      this.#close();
      this.#enter('thinking', { type: 'redacted_thinking', data: wrapSeal(seal) });
    } else {
      this.#enter('thinking', emptyThought);
      this.#isUnsigned = false;
      this.#delta(signatureDelta, wrapSeal(seal));
    }
    this.#close();
  }

  #delta(member: string, value: string): void {
    this.#out += this.#deltaOf(member, escapeText(value));
  }

  renderDelta({ type }: DeltaEvent, escaped: string): string | null {
    const { member, block } = deltas[type];
    return this.#open === block ? this.#deltaOf(member, escaped) : null;
  }

  /** Nearly all events of a stream are deltas, so only their variable part is serialised. */
  #deltaOf(member: string, escaped: string): string {
    const data = `{"type":"content_block_delta","index":${this.#index},"delta":{"type":${member}:"${escaped}"}}`;
    return `event: content_block_delta\ndata: ${data}\n\n`;
  }

  #close(): void {
    if (this.#open === null) return;
    if (this.#isUnsigned) this.#delta(signatureDelta, envelopeOfNothing);
    this.#isUnsigned = false;
    this.#open = null;
    this.#write('content_block_stop', { index: this.#index });
  }

  #end(): void {
    this.#close();
    const usage = renderUsage(this.#usage, this.#context);
    this.#write('message_delta', { delta: renderStop(this.#stop), usage });
    this.#write('message_stop', {});
  }

  #write(type: string, members: Json): void {
    this.#out += `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
  }
}

/** Renders a whole answer of Anthropic's API. */
export function renderMessagesAnswer(answer: Answer, context: AnswerContext): Json {
  return {
    id: messageId(answer.id),
    type: 'message',
    role: 'assistant',
    model: context.conversation.model,
    content: answer.parts.flatMap(renderPart),
    ...renderStop(answer.stop),
    usage: renderUsage(answer.usage, context),
  };
}

/** Anthropic's clients expect ids that begin with `msg_`. */
function messageId(id: string): string {
  return id.startsWith('msg_') ? id : `msg_${id}`;
}

function renderPart(part: AnswerPart): Json[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [{ type: 'text', text: part.text }];
    case 'thinking':
      if (part.seal?.kind === 'redacted') return [{ type: 'redacted_thinking', data: wrapSeal(part.seal) }];
      return [
        { type: 'thinking', thinking: part.text, signature: part.seal ? wrapSeal(part.seal) : envelopeOfNothing },
      ];
    case 'call':
      return [{ type: 'tool_use', id: part.id, name: part.name, input: new RawJson(part.arguments) }];
    case 'media':
      return [{ type: 'text', text: pictureAsText(part) }];
    case 'foreign':
      return [];
  }
}
