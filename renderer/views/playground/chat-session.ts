/** What the chat bench holds while its screen is left: the conversations, what is typed, the parameters. */
import { createSessionValue } from '../../state/session-value.ts';
import type { Turn } from './conversation.ts';
import { noParameters, type SamplingDraft } from './sampling.ts';
import { holdExchange } from './use-exchange.ts';

interface ChatSession {
  /** A conversation for each model: one, or two side by side. */
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

export const chatExchanges = [holdExchange(), holdExchange()] as const;
