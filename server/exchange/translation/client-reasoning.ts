/** Puts reasoning that a client's API has no place for back into its conversation, and keeps what comes anew. */
import { isObject } from '../../contract/is-object.ts';
import type { ReasoningStore } from '../../reasoning/reasoning-store.ts';
import {
  callsWithoutReasoning,
  type KeptReasoning,
  type KeptSeal,
  withKeptReasoning,
} from '../../translate/kept-reasoning.ts';
import type { Conversation } from '../../translate/neutral.ts';

export class ClientReasoning {
  readonly #store: ReasoningStore;
  readonly #keyId: string;

  /** Nobody gets what another key's answers have brought. */
  constructor(store: ReasoningStore, keyId: string) {
    this.#store = store;
    this.#keyId = keyId;
  }

  restored(conversation: Conversation): Conversation {
    const calls = conversation.wire === 'openai-chat' ? callsWithoutReasoning(conversation) : [];
    if (calls.length === 0) return conversation;
    const found = [...this.#store.find(this.#keyId, calls)].flatMap(([callId, text]) => {
      const kept = read(text);
      return kept ? [[callId, kept] as const] : [];
    });
    return withKeptReasoning(conversation, new Map(found));
  }

  keep({ callId, ...kept }: KeptReasoning): void {
    this.#store.keep(this.#keyId, callId, JSON.stringify(kept));
  }
}

/** Null for what this version of Sluice has not written. */
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
  return isObject(value) && isObject(value.seal) && typeof value.calls === 'number';
}
