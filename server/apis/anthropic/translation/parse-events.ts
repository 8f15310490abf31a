/** Parses a stream of Anthropic's API. Source: API reference, "Streaming messages". */
import { isObject } from '../../../contract/is-object.ts';
import { tellErrorWithin } from '../../core/errors/verdict.ts';
import type { StreamEvent } from '../../core/stream-format.ts';
import { errorIn } from '../../core/upstream-error.ts';
import type { EventParser } from '../../neutral/answers/wire-translation.ts';
import type { Seal } from '../../neutral/conversation.ts';
import { writeJson } from '../../neutral/json-text.ts';
import { type AnswerEvent, type CallEvent, EventUsage } from '../../neutral/neutral-answer.ts';
import { messagesReports, parseStop } from '../messages.ts';

type Json = Record<string, unknown>;

/** A content block that has begun but not ended. */
interface Block {
  kind: 'text' | 'thinking' | 'call' | 'foreign';
  /** The input in the block's first event. Replaced by deltas if any follow (earendil-works/pi#2593). */
  input: string;
  /** Of a thought, which may come in the first event, in one delta or in several. */
  signature: string;
}

export class MessagesEventParser implements EventParser {
  readonly #blocks = new Map<unknown, Block>();
  /** Of the blocks, the thoughts. */
  readonly #thoughts = new Set<unknown>();
  /** Index of the block that began last. */
  #latest: unknown = -1;
  readonly #usage = new EventUsage(messagesReports);
  #hasBegun = false;
  #hasContent = false;
  #hasStopped = false;
  /** Citations of the open text, of all of which they are told: they come before it, or after. */
  #sources: AnswerEvent[] = [];
  #textBlocks = 0;
  /** The next text is the first of its block, and not of the answer. */
  #isNewText = false;

  push({ value }: StreamEvent): AnswerEvent[] {
    if (!isObject(value)) return [];
    const { type } = value;
    const index = this.#placeOf(value);
    if (type === 'message_start') return this.#start(value);
    if (type === 'content_block_start')
      return this.#open(index, isObject(value.content_block) ? value.content_block : {});
    if (type === 'content_block_delta') return this.#add(index, isObject(value.delta) ? value.delta : {});
    if (type === 'content_block_stop') return this.#close(index);
    if (type === 'message_delta') return this.#finish(value);
    if (type === 'message_stop') return this.#end();
    if (type === 'error' || value.error) return [{ type: 'error', error: tellErrorWithin(errorIn(value)) }];
    return [];
  }

  /** Where no index is given, blocks come one after another. */
  #placeOf({ type, index }: Json): unknown {
    if (type !== 'content_block_start') return index ?? this.#latest;
    this.#latest = index ?? Number(this.#latest) + 1;
    return this.#latest;
  }

  /** A stream without `message_stop` was cut off. */
  end(): AnswerEvent[] {
    return [];
  }

  /** Proxies that retry may send a second start. Content that the client has already received cannot be revoked. */
  #start(value: Json): AnswerEvent[] {
    if (this.#hasBegun) return this.#hasContent ? [{ type: 'error', error: begunAgain }] : [];
    this.#hasBegun = true;
    const message = isObject(value.message) ? value.message : {};
    const id = typeof message.id === 'string' ? message.id : '';
    return [{ type: 'start', id }, ...this.#usage.eventsOf(value)];
  }

  #open(index: unknown, block: Json): AnswerEvent[] {
    const type = String(block.type);
    this.#hasContent = true;
    const seals = [...this.#takeSources(), ...this.#sealThoughts()];
    if (type === 'text') {
      this.#isNewText = this.#textBlocks++ > 0;
      const events = [...seals, ...this.#say(block.text)];
      if (Array.isArray(block.citations)) for (const citation of block.citations) this.#cite(citation, events);
      return this.#begin(index, 'text', events);
    }
    if (type === 'thinking') {
      const signature = textOf(block.signature);
      return this.#begin(index, 'thinking', [...seals, ...textEvents('thinking', block.thinking)], { signature });
    }
    if (type === 'redacted_thinking') {
      const seal = { kind: 'redacted' as const, data: textOf(block.data) };
      return this.#begin(index, 'foreign', [...seals, { type: 'seal', seal }]);
    }
    if (type !== 'tool_use') return this.#begin(index, 'foreign', [...seals, { type: 'foreign', name: type }]);
    const id = String(block.id ?? '');
    const call = { type: 'call', index: Number(index), id, name: String(block.name ?? ''), kind: 'function' } as const;
    return this.#begin(index, 'call', [...seals, call], { input: writeJson(block.input ?? {}) });
  }

  #begin(index: unknown, kind: Block['kind'], events: AnswerEvent[], more: Partial<Block> = {}): AnswerEvent[] {
    this.#blocks.set(index, { kind, input: '', signature: '', ...more });
    if (kind === 'thinking') this.#thoughts.add(index);
    return events;
  }

  #add(index: unknown, delta: Json): AnswerEvent[] {
    const block = this.#blocks.get(index);
    if (delta.type === 'text_delta') return this.#say(delta.text);
    if (delta.type === 'thinking_delta') return textEvents('thinking', delta.thinking);
    if (delta.type === 'signature_delta') return this.#sign(block, textOf(delta.signature));
    if (delta.type === 'citations_delta') return this.#cite(delta.citation, []);
    return delta.type === 'input_json_delta' ? this.#addInput(index, textOf(delta.partial_json)) : [];
  }

  #say(text: unknown): AnswerEvent[] {
    const events = textEvents('text', text);
    if (!this.#isNewText || events.length === 0) return events;
    this.#isNewText = false;
    return [{ type: 'passage' }, ...events];
  }

  /** Only what was found in the web has an address; the rest cites documents of the request. */
  #cite(citation: unknown, events: AnswerEvent[]): AnswerEvent[] {
    const { url, title } = isObject(citation) ? citation : {};
    if (typeof url !== 'string' || url === '') events.push({ type: 'foreign', name: 'citations' });
    else this.#sources.push({ type: 'source', source: { url, title: textOf(title), place: { unit: 'passage' } } });
    return events;
  }

  #takeSources(): AnswerEvent[] {
    const sources = this.#sources;
    if (sources.length > 0) this.#sources = [];
    return sources;
  }

  /**
   * Input where nothing has begun is that of the call that is open. Without one, it is told as a call without a name. Input
   * of a tool that the provider runs has a block of another kind.
   */
  #addInput(index: unknown, input: string): AnswerEvent[] {
    const kind = this.#blocks.get(index)?.kind;
    if (input === '' || (kind !== undefined && kind !== 'call')) return [];
    const place = kind === 'call' ? index : this.#openCall();
    const block = this.#blocks.get(place);
    const opening = block ? [] : this.#begin(index, 'call', [unnamed(index)]);
    if (block) block.input = '';
    return [...opening, { type: 'arguments', index: Number(block ? place : index), text: input }];
  }

  #openCall(): unknown {
    return [...this.#blocks].findLast(([, { kind }]) => kind === 'call')?.[0];
  }

  #sign(block: Block | undefined, signature: string): AnswerEvent[] {
    if (block?.kind !== 'thinking') return [{ type: 'seal', seal: sealOf(signature) }];
    block.signature += signature;
    return [];
  }

  /** Ends thoughts whose end was not reported. */
  #sealThoughts(): AnswerEvent[] {
    return [...this.#thoughts].flatMap((index) => this.#close(index));
  }

  #close(index: unknown): AnswerEvent[] {
    const block = this.#blocks.get(index);
    this.#blocks.delete(index);
    this.#thoughts.delete(index);
    if (block?.kind === 'thinking') return [{ type: 'seal', seal: sealOf(block.signature) }];
    if (block?.kind !== 'call') return this.#takeSources();
    const call = Number(index);
    const rest: AnswerEvent[] = block.input === '' ? [] : [{ type: 'arguments', index: call, text: block.input }];
    return [...rest, { type: 'call-end', index: call }];
  }

  #finish(value: Json): AnswerEvent[] {
    const delta = isObject(value.delta) ? value.delta : {};
    const usage = this.#usage.eventsOf(value);
    return delta.stop_reason ? [...this.#stop(delta), ...usage] : usage;
  }

  #stop(delta: Json): AnswerEvent[] {
    this.#hasStopped = true;
    const closed = [...this.#blocks.keys()].flatMap((index) => this.#close(index));
    return [...closed, ...this.#takeSources(), { type: 'stop', stop: parseStop(delta) }];
  }

  /** Without a reason, `message_stop` may come from a proxy whose upstream broke off. */
  #end(): AnswerEvent[] {
    return this.#hasStopped ? [{ type: 'end' }] : [];
  }
}

function unnamed(index: unknown): CallEvent {
  return { type: 'call', index: Number(index), id: '', name: '', kind: 'function' };
}

const begunAgain = {
  message: 'The upstream began its answer again in the middle of it.',
  type: 'server_error',
  code: 'upstream_stream_broken',
};

function textEvents(type: 'text' | 'thinking', text: unknown): AnswerEvent[] {
  return typeof text === 'string' && text !== '' ? [{ type, text }] : [];
}

/** Servers other than Anthropic's may not sign; their thoughts are sent back unchanged. */
function sealOf(signature: string): Seal {
  return { kind: signature === '' ? 'plain' : 'signature', data: signature };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A whole message as the events of its stream, with each block as a whole in its first event. Its JSON is whole without a reason. */
export function messageEvents(body: unknown): Json[] | null {
  if (!isObject(body) || !Array.isArray(body.content)) return null;
  const blocks = body.content.filter(isObject).flatMap((block, index) => [
    { type: 'content_block_start', index, content_block: block },
    { type: 'content_block_stop', index },
  ]);
  return [
    { type: 'message_start', message: { id: body.id } },
    ...blocks,
    { type: 'message_delta', delta: { ...body, stop_reason: body.stop_reason ?? 'end_turn' }, usage: body.usage },
    { type: 'message_stop' },
  ];
}
