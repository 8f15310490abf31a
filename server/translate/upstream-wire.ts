/** Which wire a target is asked on. */
import type { ConversationWire } from '../contract/conversation-wires.ts';
import { JsonNames } from '../wire/json/json-names.ts';
import { fieldValue, peekJson } from '../wire/json/json-peek.ts';
import type { MeasuredRequest } from '../wire/wire.ts';
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
  body: MeasuredRequest | null,
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
function needsResponses(model: string, client: ConversationWire, body: MeasuredRequest | null): boolean {
  const { chat } = openaiFacts(model);
  if (chat === 'all' || chat === 'nothing') return chat === 'nothing';
  const json = body?.captured ?? Buffer.alloc(0);
  const peek = peekJson(json, decidingNames);
  if (!peek.ok || !peek.fields.get('tools')?.items) return false;
  const effort = peek.fields.get('reasoning_effort');
  return chat === 'no-functions' || client !== 'openai-chat' || isEffort(effort && fieldValue(json, effort));
}

/** Looked for only with the few models for which they decide. */
const decidingNames = new JsonNames(['tools', 'reasoning_effort']);

function isEffort(value: unknown): boolean {
  return typeof value === 'string' && value !== 'none';
}
