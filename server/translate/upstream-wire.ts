/** Which wire a target is asked on. */
import type { ConversationWire } from '../contract/conversation-wires.ts';
import type { RequestView } from '../wire/wire.ts';
import { openaiFacts } from './model-facts.ts';
import { isWireName } from './wire-translations.ts';

/** What matters here of a target. */
interface AskedTarget {
  /** The upstream model; null if it is the client's. */
  model: string | null;
  provider: {
    dialect: {
      serves(wire: string): boolean;
      conversationWire: string;
      hosted?(model: string): { wire: string };
    };
    /** The conversation wires that the provider serves, preferred first; null if unknown. */
    servedWires: readonly string[] | null;
  };
}

/**
 * The client's own wire if the target serves it, so that bytes pass unchanged; otherwise the one on which its provider is asked
 * for conversations. Null if the target cannot be asked by such a client.
 *
 * @param body null if the question is asked without a request, as `route explain` does
 */
export function upstreamWireOf(
  { provider, model }: AskedTarget,
  client: ConversationWire,
  body: RequestView | null,
): ConversationWire | null {
  const { dialect, servedWires } = provider;
  const isServed = dialect.serves(client) && (servedWires === null || servedWires.includes(client));
  const usual = dialect.hosted?.(model ?? '').wire ?? dialect.conversationWire;
  const wire = isServed ? client : (servedWires?.[0] ?? usual);
  if (!isWireName(wire)) return null;
  const isChoice = wire === 'openai-chat' && model !== null && servedWires?.includes('openai-responses') === true;
  return isChoice && needsResponses(model, client, body) ? 'openai-responses' : wire;
}

/** OpenAI refuses such requests on its chat route. */
function needsResponses(model: string, client: ConversationWire, body: RequestView | null): boolean {
  const { chat } = openaiFacts(model);
  if (chat === 'all' || chat === 'nothing') return chat === 'nothing';
  if (!body?.raw('tools')?.items) return false;
  return chat === 'no-functions' || client !== 'openai-chat' || (body.field('reasoning_effort') ?? 'none') !== 'none';
}
