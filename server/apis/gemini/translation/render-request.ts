/** Renders a request of `:generateContent`. The URL contains the model and whether the answer is streamed. */

import { type GeminiFacts, geminiFacts } from '../../../models/model-facts.ts';
import { entryOf } from '../../core/table-entry.ts';
import type { Conversation, Tool } from '../../neutral/conversation.ts';
import type { Losses } from '../../neutral/losses.ts';
import { budgetOf, effortOf, isOff } from '../../neutral/requests/reasoning-effort.ts';
import { offeredTools, type RenderedRequest, Rendering, type Target } from '../../neutral/requests/rendering.ts';
import { fitSchema } from '../../neutral/schemas/fit-schema.ts';
import { renderContents } from './render-contents.ts';

type Json = Record<string, unknown>;

/** Google, "Function calling": names of functions; "GenerationConfig": up to five stop sequences. */
const nameRule = { maxLength: 64, others: '_.:-', beginsWithLetter: true };
const maxStops = 5;

/** @throws GatewayError `invalid_value` if the model does not support the request */
export function renderGenerateRequest(conversation: Conversation, target: Target, losses: Losses): RenderedRequest {
  const facts = geminiFacts(target.model);
  const rendering = new Rendering(conversation, target, { ids: 'any', names: nameRule, losses });
  if ((conversation.sampling.answers ?? 1) > 1) rendering.refuse('answers', 'no-equal');
  const instructions = conversation.instructions.filter(({ text }) => text.trim() !== '');
  const system = facts.takesSystemInstruction && instructions.length > 0;
  const body: Json = {
    systemInstruction: system ? { parts: instructions.map(({ text }) => ({ text })) } : undefined,
    contents: renderContents(rendering, facts),
    ...renderTools(rendering),
    generationConfig: renderConfig(rendering, facts),
  };
  dropHints(rendering);
  return { body, names: rendering.names };
}

function renderTools(rendering: Rendering): Json {
  const { tools, toolChoice: choice } = rendering.conversation;
  if (tools.length === 0) return {};
  const isNarrowed = choice?.mode === 'subset' && !choice.isRequired;
  if (isNarrowed) rendering.emulate('toolChoice', 'no-equal');
  const offered = isNarrowed ? offeredTools(rendering.conversation) : tools;
  const config = renderChoice(rendering);
  return {
    tools: [{ functionDeclarations: offered.map((tool) => renderTool(rendering, tool)) }],
    toolConfig: config && { functionCallingConfig: config },
  };
}

function renderTool(rendering: Rendering, tool: Tool): Json {
  const { description, schema } = rendering.asFunction(tool);
  rendering.dropStrict(tool, 'no-equal');
  const isEmpty = schema === undefined || Object.keys(schema).length === 0;
  const fitted = isEmpty
    ? undefined
    : fitSchema(schema, { hasBareReferences: true }, { at: tool.at, losses: rendering.losses });
  return { name: rendering.names.encode(tool), description, parametersJsonSchema: fitted };
}

function renderChoice({ conversation, names }: Rendering): Json | undefined {
  const { toolChoice: choice } = conversation;
  if (choice === undefined) return undefined;
  if (choice.mode === 'none') return { mode: 'NONE' };
  if (choice.mode === 'required') return { mode: 'ANY' };
  if (choice.mode === 'named') return { mode: 'ANY', allowedFunctionNames: [names.encode(choice)] };
  if (choice.mode !== 'subset' || !choice.isRequired) return { mode: 'AUTO' };
  return { mode: 'ANY', allowedFunctionNames: choice.names.map((name) => names.encode({ name })) };
}

function renderConfig(rendering: Rendering, facts: GeminiFacts): Json | undefined {
  const { sampling, maxOutputTokens, format } = rendering.conversation;
  const config: Json = {
    temperature: sampling.temperature,
    topP: sampling.topP,
    topK: sampling.topK,
    seed: sampling.seed,
    presencePenalty: sampling.presencePenalty,
    frequencyPenalty: sampling.frequencyPenalty,
    maxOutputTokens,
    stopSequences: rendering.stopsUpTo(maxStops),
    responseMimeType: format === undefined ? undefined : 'application/json',
    responseJsonSchema: format?.kind === 'schema' ? format.schema : undefined,
    thinkingConfig: renderThinking(rendering, facts),
  };
  return Object.values(config).every((value) => value === undefined) ? undefined : config;
}

const levels: Record<string, string> = {
  none: 'MINIMAL',
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
};

/** A level or a budget, never both. */
function renderThinking(rendering: Rendering, facts: GeminiFacts): Json | undefined {
  const { reasoning } = rendering.conversation;
  if (reasoning === undefined) return undefined;
  if (!facts.thinks) {
    if (!isOff(reasoning)) rendering.drop('reasoning', reasoning, 'model-takes-none');
    return undefined;
  }
  const includeThoughts = reasoning.isVisible !== false && !isOff(reasoning) ? true : undefined;
  const effort = effortOf(reasoning);
  if (effort === undefined) return includeThoughts && { includeThoughts };
  if (facts.levels.length === 0) {
    const budget = Math.min(facts.mostBudget, Math.max(facts.leastBudget, budgetOf(reasoning) ?? 0));
    return { includeThoughts, thinkingBudget: budget };
  }
  const level = entryOf(levels, effort) ?? 'HIGH';
  return { includeThoughts, thinkingLevel: facts.levels.includes(level) ? level : facts.levels[0] };
}

function dropHints(rendering: Rendering): void {
  const { sampling, parallelToolCalls, user, cacheKey, serviceTier, metadata, verbosity } = rendering.conversation;
  rendering.drop('logprobs', sampling.logprobs || sampling.topLogprobs || undefined, 'no-equal');
  rendering.drop('logitBias', sampling.logitBias, 'no-equal');
  rendering.drop('parallelToolCalls', parallelToolCalls === false ? false : undefined, 'no-equal');
  rendering.drop('user', user, 'no-equal');
  rendering.drop('cacheKey', cacheKey, 'no-equal');
  rendering.drop('serviceTier', serviceTier, 'no-equal');
  rendering.drop('metadata', metadata, 'no-equal');
  rendering.drop('verbosity', verbosity, 'no-equal');
}
