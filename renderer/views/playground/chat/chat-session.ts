/** State of the chat panel that outlives its screen: conversations, input and parameters. */

import type { Turn } from '../../../state/chat/conversation.ts';
import { noParameters, type SamplingDraft } from '../../../state/chat/sampling.ts';
import { createSessionValue } from '../../../state/window/session-value.ts';
import { createExchangeStore } from '../call/use-exchange.ts';

interface ChatSession {
  /** One conversation per model, side by side. */
  lanes: readonly (readonly Turn[])[];
  /** The models of the lanes after the first, which has the panel's. */
  otherModels: readonly string[];
  /** The message to which the input is a new version; null for a new message. */
  editing: { message: Turn; index: number /** What was in the input before. */; draft: string } | null;
  text: string;
  image: File | null;
  system: string;
  tools: string;
  sampling: SamplingDraft;
}

export const chatSession = createSessionValue<ChatSession>({
  lanes: [[]],
  otherModels: [],
  editing: null,
  text: '',
  image: null,
  system: '',
  tools: '',
  sampling: noParameters,
});

/** The last exchange of each lane. */
export const chatExchanges = [
  createExchangeStore(),
  createExchangeStore(),
  createExchangeStore(),
  createExchangeStore(),
] as const;

/** The new lane begins a conversation of its own, with a model still to be chosen. */
export function addLane(): void {
  chatSession.set((old) => ({
    ...old,
    lanes: [...old.lanes, []],
    otherModels: [...old.otherModels, ''],
  }));
}

/** @param lane not the first */
export function removeLane(lane: number): void {
  chatSession.set((old) => ({
    ...old,
    lanes: old.lanes.toSpliced(lane, 1),
    otherModels: old.otherModels.toSpliced(lane - 1, 1),
  }));
  for (const [index, store] of chatExchanges.entries()) {
    if (index >= lane) store.set(chatExchanges[index + 1]?.get() ?? null);
  }
}

export function beginNewChat(): void {
  chatSession.set((old) => ({ ...old, lanes: old.lanes.map(() => []), editing: null }));
  for (const store of chatExchanges) store.set(null);
}

/** Puts a message of the person into the input. Sent, it takes the place of that message and of all that followed. */
export function beginEdit(lane: number, index: number): void {
  chatSession.set((old) => {
    const message = old.lanes[lane]?.[index];
    if (message === undefined) return old;
    return { ...old, text: message.text, editing: { message, index, draft: old.editing?.draft ?? old.text } };
  });
}

export function cancelEdit(): void {
  chatSession.set((old) => (old.editing ? { ...old, text: old.editing.draft, editing: null } : old));
}
