/** Through which wire a target is asked what a client says in another. */
import { type ConversationWire, conversationWires } from '../contract/conversation-wires.ts';
import type { Target } from './snapshot.ts';

/** The client's own where bytes pass as they are; null where the target cannot be asked by such a client. */
export function upstreamWireOf({ provider }: Target, client: ConversationWire): ConversationWire | null {
  const { dialect } = provider;
  if (dialect.serves(client)) return client;
  return conversationWires.find((wire) => wire === dialect.conversationWire) ?? null;
}
