/**
 * Extracts and restores reasoning that must be returned with its tool calls, for clients whose API cannot carry it.
 * Chat clients drop reasoning sealed by Anthropic and Google, unless they preserve unknown members. Call ids are always
 * returned.
 */

import { hash } from 'node:crypto';
import { GrowingText } from '../neutral/answers/growing-text.ts';
import type { CallPart, Conversation, Part, Seal, Turn } from '../neutral/conversation.ts';
import type { AnswerEvent, DeltaEvent } from '../neutral/neutral-answer.ts';

/** One seal of an answer, with its position among the calls. */
export interface KeptSeal {
  seal: Seal;
  /** The sealed thought; null for the seal of a call. */
  text: string | null;
  /** Number of calls before the seal, or before the call that it belongs to. */
  calls: number;
  /** Whether text precedes it. */
  isAfterText: boolean;
}

/** All seals of an answer that contains calls. */
export interface KeptReasoning {
  /** The client's id of the first call. */
  callId: string;
  /** Hash of the calls, because ids are not unique everywhere: Gemini's are numbered within a conversation. */
  digest: string;
  seals: readonly KeptSeal[];
}

/** Collects the seals from the events of the client's answer. */
export class ReasoningCollector {
  /** Calls by index. */
  readonly #callsByIndex = new Map<number, { id: string; name: string; arguments: GrowingText }>();
  readonly #seals: KeptSeal[] = [];
  #thought = new GrowingText();
  #calls = 0;
  #isAfterText = false;

  take(event: AnswerEvent): void {
    if (event.type === 'thinking') this.#thought.add(event.text);
    else if (event.type === 'seal') this.#keep(event.seal, this.#thought.text);
    else if (event.type === 'text') this.#isAfterText = true;
    else if (event.type === 'call') {
      this.#callsByIndex.set(event.index, { id: event.id, name: event.name, arguments: new GrowingText() });
      if (event.seal) this.#keep(event.seal, null);
      this.#calls++;
    } else if (event.type === 'arguments') {
      this.#callsByIndex.get(event.index)?.arguments.add(event.text);
    }
    if (event.type !== 'thinking' && !this.#thought.isEmpty) this.#thought = new GrowingText();
  }

  /** Adds more to the text of the latest event, given as the inside of a JSON string. */
  takeMore(latest: DeltaEvent, escaped: string): void {
    if (latest.type === 'thinking') this.#thought.addEscaped(escaped);
    else if (latest.type === 'arguments') this.#callsByIndex.get(latest.index)?.arguments.addEscaped(escaped);
  }

  /** Null if there are no calls with reasoning to restore. */
  get kept(): KeptReasoning | null {
    const [first] = this.#callsByIndex.values();
    if (!first || this.#seals.length === 0) return null;
    const calls = [...this.#callsByIndex.values()].map((call) => ({ name: call.name, arguments: call.arguments.text }));
    return { callId: first.id, digest: digestOf(calls), seals: this.#seals };
  }

  #keep(seal: Seal, text: string | null): void {
    this.#seals.push({ seal, text, calls: this.#calls, isAfterText: this.#isAfterText });
  }
}

/** Maximum number of turns to look up. Agents have fewer, and older reasoning matters little. */
const maxTurns = 1_000;

/** The first call id of each turn that lacks its model's reasoning; only of the latest turns if there are many. */
export function callsWithoutReasoning({ turns }: Conversation): string[] {
  return turns.flatMap((turn) => unsealedCallsOf(turn)[0]?.id ?? []).slice(-maxTurns);
}

/** Restores the stored reasoning, given by the id of each turn's first call. */
export function withKeptReasoning(
  conversation: Conversation,
  reasoningByCall: ReadonlyMap<string, Omit<KeptReasoning, 'callId'>>,
): Conversation {
  if (reasoningByCall.size === 0) return conversation;
  const turns = conversation.turns.map((turn) => {
    const calls = unsealedCallsOf(turn);
    const found = reasoningByCall.get(calls[0]?.id ?? '');
    return found && found.digest === digestOf(calls) ? { ...turn, parts: withSeals(turn.parts, found.seals) } : turn;
  });
  return { ...conversation, turns };
}

/** Ignores whitespace, because clients may re-serialise the arguments. */
function digestOf(calls: readonly Pick<CallPart, 'name' | 'arguments'>[]): string {
  const lines = calls.map((call) => `${call.name} ${call.arguments}`.replaceAll(' ', '').replaceAll('\n', ''));
  return hash('sha256', lines.join('\n'));
}

/** The turn's calls; none if the client returned the turn's reasoning itself. */
function unsealedCallsOf({ role, parts }: Turn): CallPart[] {
  if (role !== 'assistant' || parts.some((part) => (part.type === 'thinking' || part.type === 'call') && part.seal)) {
    return [];
  }
  return parts.filter((part) => part.type === 'call');
}

/**
 * In chats, a turn's text precedes all calls. Thoughts returned as plain text are dropped, because the stored ones
 * include them.
 */
function withSeals(parts: readonly Part[], seals: readonly KeptSeal[]): Part[] {
  const at = parts.find(({ type }) => type === 'call')?.at ?? '';
  const thoughts = Map.groupBy(seals, positionOf);
  const restored: Part[] = [];
  const restore = (position: string) => {
    for (const { seal, text } of thoughts.get(position) ?? [])
      restored.push({ type: 'thinking', text: text ?? '', seal, at });
  };
  restore(beforeText);
  let calls = 0;
  for (const part of parts) {
    if (part.type === 'thinking') continue;
    if (part.type === 'call') {
      restore(`before ${calls}`);
      const [own] = thoughts.get(`of ${calls}`) ?? [];
      restored.push(own ? { ...part, seal: own.seal } : part);
      calls++;
    } else restored.push(part);
  }
  return restored;
}

const beforeText = 'before text';

function positionOf({ text, calls, isAfterText }: KeptSeal): string {
  if (text === null) return `of ${calls}`;
  return calls === 0 && !isAfterText ? beforeText : `before ${calls}`;
}
