/**
 * Parses a stream of Bedrock's Converse API. Each event is an object with one member, its type: `{"messageStop":{…}}`.
 * Source: Amazon Bedrock API reference, `ConverseStreamOutput`.
 */
import { isObject } from '../../../contract/is-object.ts';
import { tellErrorWithin } from '../../core/errors/verdict.ts';
import type { StreamEvent } from '../../core/stream-format.ts';
import { entryOf } from '../../core/table-entry.ts';
import { errorIn } from '../../core/upstream-error.ts';
import type { EventParser } from '../../neutral/answers/wire-translation.ts';
import type { Seal } from '../../neutral/conversation.ts';
import { writeJson } from '../../neutral/json-text.ts';
import { type AnswerEvent, EventUsage, type Stop, type StopReason } from '../../neutral/neutral-answer.ts';
import { converseReports } from '../converse.ts';

type Json = Record<string, unknown>;

export class ConverseEventParser implements EventParser {
  readonly #calls = new Set<unknown>();
  /** Those of tools that the provider runs. */
  readonly #serverCalls = new Set<unknown>();
  /** The block of reasoning that has begun and has no signature yet; null if there is none. */
  #unsigned: unknown = null;
  readonly #usage = new EventUsage(converseReports);
  #hasStopped = false;
  #isOver = false;
  /** The block whose text came last. */
  #textBlock: unknown = null;
  /** Citations of that text. */
  #sources: AnswerEvent[] = [];

  push({ value }: StreamEvent): AnswerEvent[] {
    if (!isObject(value)) return [];
    const { messageStart, contentBlockStart, contentBlockDelta, contentBlockStop, messageStop, metadata, error } =
      value;
    if (error) return [{ type: 'error', error: tellErrorWithin(errorIn(value)) }];
    if (isObject(messageStart)) return [{ type: 'start', id: '' }];
    if (isObject(contentBlockStart)) return this.#open(contentBlockStart);
    if (isObject(contentBlockDelta)) return this.#add(contentBlockDelta);
    if (isObject(contentBlockStop)) return this.#close(contentBlockStop.contentBlockIndex);
    if (isObject(messageStop)) return this.#stop(messageStop);
    return isObject(metadata) ? [...this.#usage.eventsOf(value), ...this.end()] : [];
  }

  /** `metadata` is the last event. Without it only the usage is missing. */
  end(): AnswerEvent[] {
    if (!this.#hasStopped || this.#isOver) return [];
    this.#isOver = true;
    return [{ type: 'end' }];
  }

  /** Sent for calls; most models do not send it for other blocks. */
  #open({ contentBlockIndex: index, start }: Json): AnswerEvent[] {
    const toolUse = isObject(start) ? start.toolUse : undefined;
    if (!isObject(toolUse)) return [];
    // Nova runs its own tools (`nova_grounding`) itself.
    if (toolUse.type === 'server_tool_use') {
      this.#serverCalls.add(index);
      return [...this.#sealOther(index), { type: 'foreign', name: toolUse.type }];
    }
    this.#calls.add(index);
    const { toolUseId, name } = toolUse;
    const call = {
      type: 'call',
      index: Number(index),
      id: textOf(toolUseId),
      name: textOf(name),
      kind: 'function',
    } as const;
    return [...this.#sealOther(index), call];
  }

  #add({ contentBlockIndex: index, delta }: Json): AnswerEvent[] {
    if (!isObject(delta)) return [];
    const { text, toolUse, reasoningContent, citation } = delta;
    if (typeof text === 'string') return text === '' ? [] : this.#say(index, text);
    if (isObject(toolUse)) return this.#callArguments(index, textOf(toolUse.input));
    if (isObject(reasoningContent)) return this.#think(index, reasoningContent);
    if (isObject(citation)) return this.#cite(citation);
    return Object.keys(delta)
      .slice(0, 1)
      .map((name) => ({ type: 'foreign', name }));
  }

  #say(index: unknown, text: string): AnswerEvent[] {
    const said: AnswerEvent = { type: 'text', text };
    if (this.#textBlock === index) return [...this.#sealOther(index), said];
    const before: AnswerEvent[] = this.#textBlock === null ? [] : [...this.#takeSources(), { type: 'passage' }];
    this.#textBlock = index;
    return [...before, ...this.#sealOther(index), said];
  }

  /** Only what was found in the web has an address. Nova cites after the text, in blocks without one. */
  #cite({ title, location }: Json): AnswerEvent[] {
    const web = isObject(location) && isObject(location.web) ? location.web : {};
    if (textOf(web.url) === '') return [{ type: 'foreign', name: 'citations' }];
    const source = {
      url: textOf(web.url),
      title: textOf(title) || textOf(web.domain),
      place: { unit: 'passage' },
    } as const;
    this.#sources.push({ type: 'source', source });
    return [];
  }

  #takeSources(): AnswerEvent[] {
    const sources = this.#sources;
    if (sources.length > 0) this.#sources = [];
    return sources;
  }

  /** Input at the place of no call is that of the call that is open. Without one, it is told as a call without a name. */
  #callArguments(index: unknown, text: string): AnswerEvent[] {
    if (text === '' || this.#serverCalls.has(index)) return [];
    const place = this.#calls.has(index) ? index : [...this.#calls].at(-1);
    if (place !== undefined) return [{ type: 'arguments', index: Number(place), text }];
    this.#calls.add(index);
    const call = { type: 'call', index: Number(index), id: '', name: '', kind: 'function' } as const;
    return [call, { type: 'arguments', index: Number(index), text }];
  }

  #think(index: unknown, { text, signature, redactedContent }: Json): AnswerEvent[] {
    if (typeof text === 'string' && text !== '') {
      this.#unsigned = index;
      return [{ type: 'thinking', text }];
    }
    if (typeof signature === 'string' && signature !== '') {
      this.#unsigned = null;
      return [{ type: 'seal', seal: sealOf(signature) }];
    }
    if (typeof redactedContent !== 'string') return [];
    return [{ type: 'seal', seal: { kind: 'redacted', data: redactedContent } }];
  }

  /** Ends reasoning without a signature if another block begins before its end was reported. */
  #sealOther(index: unknown): AnswerEvent[] {
    return this.#unsigned === null || this.#unsigned === index ? [] : this.#seal();
  }

  #seal(): AnswerEvent[] {
    if (this.#unsigned === null) return [];
    this.#unsigned = null;
    return [{ type: 'seal', seal: sealOf(undefined) }];
  }

  #close(index: unknown): AnswerEvent[] {
    if (this.#calls.delete(index)) return [{ type: 'call-end', index: Number(index) }];
    if (this.#sources.length > 0) return this.#takeSources();
    return this.#unsigned === index ? this.#seal() : [];
  }

  #stop(message: Json): AnswerEvent[] {
    const rest = [...this.#takeSources(), ...this.#seal()];
    if (!message.stopReason) return rest;
    this.#hasStopped = true;
    return [...rest, { type: 'stop', stop: parseStop(message) }];
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Only some models sign their reasoning. That of others is sent back unchanged. */
function sealOf(signature: unknown): Seal {
  const data = textOf(signature);
  return data === '' ? { kind: 'plain', data } : { kind: 'signature', data };
}

/** A whole answer as the events of its stream. Its JSON is whole without a reason. */
export function converseEvents(body: unknown): Json[] | null {
  if (!isObject(body) || !isObject(body.output) || !isObject(body.output.message)) return null;
  const { content } = body.output.message;
  const blocks = (Array.isArray(content) ? content : []).filter(isObject);
  return [
    { messageStart: { role: 'assistant' } },
    ...blocks.flatMap(blockEvents),
    { messageStop: { ...body, stopReason: body.stopReason ?? 'end_turn' } },
    { metadata: { usage: body.usage } },
  ];
}

function blockEvents(block: Json, index: number): Json[] {
  const { text, toolUse, reasoningContent, citationsContent } = block;
  const at = { contentBlockIndex: index };
  const deltas = (...all: Json[]) => all.map((delta) => ({ contentBlockDelta: { ...at, delta } }));
  const end = { contentBlockStop: at };
  if (typeof text === 'string') return [...deltas({ text }), end];
  if (isObject(toolUse)) {
    const input = writeJson(toolUse.input ?? {});
    return [{ contentBlockStart: { ...at, start: { toolUse } } }, ...deltas({ toolUse: { input } }), end];
  }
  if (isObject(reasoningContent)) return [...deltas(...reasoningDeltas(reasoningContent)), end];
  if (isObject(citationsContent)) return [...deltas(...citedDeltas(citationsContent)), end];
  return [...deltas(block), end];
}

function reasoningDeltas({ reasoningText, redactedContent }: Json): Json[] {
  if (!isObject(reasoningText)) return [{ reasoningContent: { redactedContent: textOf(redactedContent) } }];
  const { text, signature } = reasoningText;
  return [{ reasoningContent: { text } }, { reasoningContent: { signature } }];
}

function citedDeltas({ content, citations }: Json): Json[] {
  const texts = objectsIn(content).map(({ text }) => ({ text: textOf(text) }));
  return [...texts, ...objectsIn(citations).map((citation) => ({ citation }))];
}

function objectsIn(list: unknown): Json[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/** Source: Amazon Bedrock API reference, "Converse", `stopReason`. */
const reasons: Record<string, StopReason> = {
  end_turn: 'end',
  tool_use: 'tool',
  max_tokens: 'length',
  stop_sequence: 'sequence',
  guardrail_intervened: 'filter',
  content_filtered: 'filter',
  malformed_model_output: 'malformed',
  malformed_tool_use: 'malformed',
  model_context_window_exceeded: 'window',
};

/** An unknown reason counts as a normal end. */
function parseStop({ stopReason }: Json): Stop {
  return { reason: entryOf(reasons, stopReason) ?? 'end' };
}
