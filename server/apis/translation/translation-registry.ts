/** The wires that can be translated into one another. */

import type { ConversationWire, UpstreamWire } from '../../contract/operations.ts';
import { openaiFacts } from '../../models/model-facts.ts';
import { anthropicMessages } from '../anthropic/translation/translation.ts';
import { converseFacts } from '../bedrock/translation/model-facts.ts';
import { bedrockConverse } from '../bedrock/translation/translation.ts';
import type { MeasuredRequest } from '../core/wire.ts';
import { geminiGenerate } from '../gemini/translation/translation.ts';
import { JsonNames } from '../json/json-names.ts';
import { fieldValue, peekJson } from '../json/json-peek.ts';
import type { UpstreamTranslation, WireTranslation } from '../neutral/answers/wire-translation.ts';
import type { UpstreamWireName, WireName } from '../neutral/conversation.ts';
import type { Loss } from '../neutral/losses.ts';
import { openaiChat } from '../openai/chat/translation.ts';
import { openaiResponses } from '../openai/responses/translation.ts';
import { type Unsealed, withoutSeals } from './returned-seals.ts';

/** Whether requests of clients of this wire can be translated. */
export function isWireName(name: string): name is WireName {
  return Object.hasOwn(wireTranslations, name);
}

/** Whether requests can be translated into this wire. */
function isUpstreamWireName(name: string): name is UpstreamWireName {
  return Object.hasOwn(upstreamTranslations, name);
}

export const wireTranslations: Record<WireName, WireTranslation> = {
  'anthropic-messages': anthropicMessages,
  'gemini-generate': geminiGenerate,
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
};

export const upstreamTranslations: Record<UpstreamWireName, UpstreamTranslation> = {
  ...wireTranslations,
  'bedrock-converse': bedrockConverse,
};

/** What a client's headers ask for that is lost in translation. Any client may send the headers of any API. */
export function headerLosses(headers: Readonly<Record<string, string>>): Loss[] {
  return Object.values(wireTranslations).flatMap((wire) => wire.headerLosses?.(headers) ?? []);
}

/** The body without its reasoning, which a provider has refused; null if there is none, so that a retry would not help. */
export function withoutReasoning(wire: string, body: Buffer, model: string): Unsealed | null {
  if (!isWireName(wire)) return null;
  const { withoutReasoning: without } = wireTranslations[wire];
  if (!without) return withoutSeals(wire, body, model);
  const reduced = without(body);
  return reduced && { body: reduced, losses: [{ fate: 'dropped', field: 'thinking', code: 'foreign-reasoning' }] };
}

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
