/** State of the chat panel that outlives its screen: conversations, input and parameters. */

import type { Turn } from '../../../state/chat/conversation.ts';
import { noParameters, type SamplingDraft } from '../../../state/chat/sampling.ts';
import { createSessionValue } from '../../../state/window/session-value.ts';
import { createExchangeStore } from '../call/use-exchange.ts';

interface ChatSession {
  /** One conversation per model: one, or two side by side. */
  lanes: readonly (readonly Turn[])[];
  /** The model of the second conversation. */
  secondModel: string;
  text: string;
  image: File | null;
  system: string;
  tools: string;
  sampling: SamplingDraft;
}

export const chatSession = createSessionValue<ChatSession>({
  lanes: [[]],
  secondModel: '',
  text: '',
  image: null,
  system: '',
  tools: '',
  sampling: noParameters,
});

export const chatExchanges = [createExchangeStore(), createExchangeStore()] as const;
