/** Restores stored reasoning that the client does not bring back, and stores the reasoning of new answers. */

import type { Conversation, Origin } from '../../apis/neutral/conversation.ts';
import { bindingOrigin } from '../../apis/neutral/requests/carried-reasoning.ts';
import {
  callsWithoutReasoning,
  type KeptReasoning,
  type KeptSeal,
  plainThoughts,
  withKeptReasoning,
} from '../../apis/translation/kept-reasoning.ts';
import { isObject } from '../../contract/is-object.ts';
import type { ReasoningStore } from '../../store/ports/reasoning-store.ts';

export class ClientReasoning {
  readonly #store: ReasoningStore;
  readonly #keyId: string;

  /** Reasoning is stored per key, so that no client receives another key's. */
  constructor(store: ReasoningStore, keyId: string) {
    this.#store = store;
    this.#keyId = keyId;
  }

  restored(conversation: Conversation): Conversation {
    const calls = callsWithoutReasoning(conversation);
    return calls.length === 0 ? conversation : withStoredReasoning(conversation, this.stored(calls));
  }

  /** What is stored of these calls, by call, as `withStoredReasoning` reads it. */
  stored(calls: readonly string[]): ReadonlyMap<string, string> {
    return this.#store.find(this.#keyId, calls);
  }

  /** Where the newest reasoning was made that is stored for the calls of these results, newest first. */
  originOf(resultIds: readonly string[]): Origin | null {
    const textsByCall = resultIds.length === 0 ? null : this.#store.find(this.#keyId, resultIds);
    const newest = resultIds.map((callId) => textsByCall?.get(callId)).find((text) => text !== undefined);
    return newest === undefined ? null : bindingOrigin(read(newest)?.seals.at(-1)?.seal);
  }

  /** The reasoning stored for `tool_calls` of a chat; empty if there is none. */
  textOf(toolCalls: unknown): string {
    const calls = Array.isArray(toolCalls) ? toolCalls.flatMap(calledIn) : [];
    const [first] = calls;
    const stored = first && this.#store.find(this.#keyId, [first.id]).get(first.id);
    const kept = stored === undefined ? null : read(stored);
    return kept ? plainThoughts(kept, calls) : '';
  }

  keep({ callId, ...reasoning }: KeptReasoning): void {
    this.#store.keep(this.#keyId, callId, JSON.stringify(reasoning));
  }
}

function calledIn(call: unknown): { id: string; name: string; arguments: string }[] {
  if (!isObject(call) || !isObject(call.function)) return [];
  const { name, arguments: given } = call.function;
  return typeof call.id === 'string' && typeof name === 'string' && typeof given === 'string'
    ? [{ id: call.id, name, arguments: given }]
    : [];
}

/** The conversation with what is stored, by call; entries that cannot be read are left out. */
export function withStoredReasoning(conversation: Conversation, stored: ReadonlyMap<string, string>): Conversation {
  const entries = [...stored].flatMap(([callId, text]) => {
    const reasoning = read(text);
    return reasoning ? [[callId, reasoning] as const] : [];
  });
  return withKeptReasoning(conversation, new Map(entries));
}

/** Null if the entry is not in this version's format. */
function read(text: string): Omit<KeptReasoning, 'callId'> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isKept(value) ? value : null;
  } catch {
    return null;
  }
}

function isKept(value: unknown): value is Omit<KeptReasoning, 'callId'> {
  if (!isObject(value) || typeof value.digest !== 'string') return false;
  return Array.isArray(value.seals) && value.seals.every(isKeptSeal);
}

function isKeptSeal(value: unknown): value is KeptSeal {
  if (!isObject(value) || !isObject(value.seal) || !isObject(value.seal.place)) return false;
  const { calls, text } = value.seal.place;
  return typeof calls === 'number' && typeof text === 'number';
}
