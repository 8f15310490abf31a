/** State of the chat panel that outlives its screen: conversations, input and parameters. */
import { createSessionValue } from '../../state/session-value.ts';
import type { Turn } from './conversation.ts';
import { noParameters, type SamplingDraft } from './sampling.ts';
import { createExchangeStore } from './use-exchange.ts';

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
