/**
 * Reasoning that has to go back with its calls, for clients whose API has no place for it: chats come back without what Anthropic
 * and Google have sealed, unless the client keeps members that it does not know. The ids of calls always come back.
 */

import { hash } from 'node:crypto';
import type { CallPart, Conversation, Part, Seal, Turn } from './neutral.ts';
import type { AnswerEvent } from './neutral-answer.ts';

/** One seal of an answer, with its place among the calls. */
export interface KeptSeal {
  seal: Seal;
  /** The thought that it seals; null for the seal of a call. */
  text: string | null;
  /** How many calls stand before it, or before the call that it belongs to. */
  calls: number;
  /** Whether text stands before it. */
  isAfterText: boolean;
}

/** All seals of an answer with calls. */
export interface KeptReasoning {
  /** Of its first call, as the client knows it. */
  callId: string;
  /** What its calls say, because ids are not unique everywhere: Gemini's are counted within a conversation. */
  digest: string;
  seals: readonly KeptSeal[];
}

/** Collects the seals of an answer, whose events are those that the client gets. */
export class ReasoningCollector {
  /** By their index. */
  readonly #called = new Map<number, { id: string; name: string; arguments: string }>();
  readonly #seals: KeptSeal[] = [];
  #thought = '';
  #calls = 0;
  #isAfterText = false;

  take(event: AnswerEvent): void {
    if (event.type === 'thinking') this.#thought += event.text;
    else if (event.type === 'seal') this.#keep(event.seal, this.#thought);
    else if (event.type === 'text') this.#isAfterText = true;
    else if (event.type === 'call') {
      this.#called.set(event.index, { id: event.id, name: event.name, arguments: '' });
      if (event.seal) this.#keep(event.seal, null);
      this.#calls++;
    } else if (event.type === 'arguments') {
      const call = this.#called.get(event.index);
      if (call) call.arguments += event.text;
    }
    if (event.type !== 'thinking') this.#thought = '';
  }

  /** Null where no call has reasoning to go back with it. */
  get kept(): KeptReasoning | null {
    const calls = [...this.#called.values()];
    const [first] = calls;
    return first && this.#seals.length > 0 ? { callId: first.id, digest: digestOf(calls), seals: this.#seals } : null;
  }

  #keep(seal: Seal, text: string | null): void {
    this.#seals.push({ seal, text, calls: this.#calls, isAfterText: this.#isAfterText });
  }
}

/** More are not looked for: no agent has as many turns, and what a model thought so long ago matters little. */
const mostTurns = 1_000;

/** The first call of each turn that has come back without the reasoning of its model; of the last turns, if there are many. */
export function callsWithoutReasoning({ turns }: Conversation): string[] {
  return turns.flatMap((turn) => unsealedCallsOf(turn)[0]?.id ?? []).slice(-mostTurns);
}

/** The conversation with what was kept of it, by the first call of a turn. */
export function withKeptReasoning(
  conversation: Conversation,
  kept: ReadonlyMap<string, Omit<KeptReasoning, 'callId'>>,
): Conversation {
  if (kept.size === 0) return conversation;
  const turns = conversation.turns.map((turn) => {
    const calls = unsealedCallsOf(turn);
    const found = kept.get(calls[0]?.id ?? '');
    return found && found.digest === digestOf(calls) ? { ...turn, parts: withSeals(turn.parts, found.seals) } : turn;
  });
  return { ...conversation, turns };
}

/** Clients may write the arguments with other blanks than the model. */
function digestOf(calls: readonly Pick<CallPart, 'name' | 'arguments'>[]): string {
  const said = calls.map((call) => `${call.name} ${call.arguments}`.replaceAll(' ', '').replaceAll('\n', ''));
  return hash('sha256', said.join('\n'));
}

/** None if the client has brought back the reasoning of the turn itself. */
function unsealedCallsOf({ role, parts }: Turn): CallPart[] {
  if (role !== 'assistant' || parts.some((part) => (part.type === 'thinking' || part.type === 'call') && part.seal)) {
    return [];
  }
  return parts.filter((part) => part.type === 'call');
}

/** Chats have a turn's text before all of its calls. Thoughts that came back as plain text are among the kept ones. */
function withSeals(parts: readonly Part[], seals: readonly KeptSeal[]): Part[] {
  const at = parts.find(({ type }) => type === 'call')?.at ?? '';
  const thoughts = Map.groupBy(seals, placeOf);
  const restored: Part[] = [];
  const restore = (place: string) => {
    for (const { seal, text } of thoughts.get(place) ?? [])
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

function placeOf({ text, calls, isAfterText }: KeptSeal): string {
  if (text === null) return `of ${calls}`;
  return calls === 0 && !isAfterText ? beforeText : `before ${calls}`;
}
