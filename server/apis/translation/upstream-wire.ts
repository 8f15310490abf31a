/** Selects the wire by which a target is called. */
import type { ConversationWire, UpstreamWire } from '../../contract/conversation-wires.ts';
import { openaiFacts } from '../../models/model-facts.ts';
import { converseFacts } from '../bedrock/translation/model-facts.ts';
import type { MeasuredRequest } from '../core/wire.ts';
import { JsonNames } from '../json/json-names.ts';
import { fieldValue, peekJson } from '../json/json-peek.ts';
import { isUpstreamWireName } from './translation-registry.ts';

/** The properties of a target that determine its wire. */
interface AskedTarget {
  /** The upstream model; null if the client's name is forwarded. */
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
 * Returns the client's own wire if the target serves it, so that bytes are forwarded unchanged; otherwise the
 * provider's conversation wire. Null if the target cannot serve such a client.
 *
 * @param body null if there is no request, as in `route explain`
 */
export function upstreamWireOf(
  { provider, model }: AskedTarget,
  client: ConversationWire,
  body: MeasuredRequest<never> | null,
): UpstreamWire | null {
  const { dialect, servedWires } = provider;
  const isServed = dialect.serves(client) && (servedWires === null || servedWires.includes(client));
  const defaultWire = dialect.hosted?.(model ?? '').wire ?? dialect.conversationWire;
  const wire = isServed ? client : (servedWires?.[0] ?? defaultWire);
  if (!isUpstreamWireName(wire)) return null;
  const isChoice = wire === 'openai-chat' && model !== null && servedWires?.includes('openai-responses') === true;
  return isChoice && needsResponses(model, client, body) ? 'openai-responses' : wire;
}

/** Whether OpenAI refuses the request on its chat route, so that it must be sent to Responses. */
function needsResponses(model: string, client: ConversationWire, body: MeasuredRequest<never> | null): boolean {
  const { chat } = openaiFacts(model);
  if (chat === 'all' || chat === 'nothing') return chat === 'nothing';
  const json = body?.captured ?? Buffer.alloc(0);
  const peek = peekJson(json, decidingNames);
  if (!peek.ok || !peek.fields.get('tools')?.items) return false;
  if (chat === 'no-functions' || client !== 'openai-chat') return true;
  const field = peek.fields.get('reasoning_effort');
  const effort = field && fieldValue(json, field);
  return chat === 'functions-with-none' ? effort !== 'none' : isEffort(effort);
}

/** Searched only for the few models for which these fields matter. */
const decidingNames = new JsonNames(['tools', 'reasoning_effort']);

function isEffort(value: unknown): boolean {
  return typeof value === 'string' && value !== 'none';
}

/**
 * Whether the model refuses the request as a stream, so that a whole answer must be requested. `model`: the upstream
 * model; null if unknown.
 */
export function isAskedWhole(wire: UpstreamWire, model: string | null, body: MeasuredRequest<never>): boolean {
  if (wire !== 'bedrock-converse' || model === null || converseFacts(model).streamsTools) return false;
  const peek = peekJson(body.captured ?? Buffer.alloc(0), decidingNames);
  return peek.ok && Boolean(peek.fields.get('tools')?.items);
}
