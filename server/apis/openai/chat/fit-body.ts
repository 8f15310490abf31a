/** Fits a chat request that Sluice has written to a service that refuses some of what OpenAI takes. */
import { isObject } from '../../../contract/is-object.ts';
import type { ChatFlavour, RefusedMembers } from '../../core/chat-flavour.ts';
import { entryOf } from '../../core/table-entry.ts';
import type { FieldName } from '../../neutral/client-api.ts';
import type { Rendering } from '../../neutral/requests/rendering.ts';
import { joinedTexts, lacksReasoning } from '../wire/fit-request.ts';
import { missingSignature } from '../wire/missing-signature.ts';

type Json = Record<string, unknown>;

/** What the client asked for by a member; undefined: nothing, or nothing that any client would miss. */
const askedBy: Readonly<Record<string, FieldName>> = {
  max_tokens: 'maxOutputTokens',
  max_completion_tokens: 'maxOutputTokens',
  temperature: 'temperature',
  top_p: 'topP',
  seed: 'seed',
  presence_penalty: 'presencePenalty',
  frequency_penalty: 'frequencyPenalty',
  logit_bias: 'logitBias',
  stop: 'stopSequences',
  response_format: 'format',
  reasoning_effort: 'reasoning',
  verbosity: 'verbosity',
  tool_choice: 'toolChoice',
  parallel_tool_calls: 'parallelToolCalls',
  safety_identifier: 'user',
  prompt_cache_key: 'cacheKey',
  service_tier: 'serviceTier',
  strict: 'strictTool',
};

export function fitBody(rendering: Rendering, body: Json, flavour: ChatFlavour): Json {
  const { request, messages, functions } = flavour;
  const fitted = withoutRefused(rendering, body, request);
  const { joinsTexts, wantsReasoning, signsCalls } = flavour;
  const isOfMessages =
    Object.keys(messages).length > 0 || joinsTexts || wantsReasoning !== 'of none' || signsCalls !== null;
  if (Array.isArray(fitted.messages) && isOfMessages)
    fitted.messages = fitted.messages.map((message) => fitMessage(rendering, message, flavour));
  if (Array.isArray(fitted.tools) && Object.keys(functions).length > 0)
    fitted.tools = fitted.tools.map((tool) => fitTool(rendering, tool, functions));
  return fitted;
}

function fitMessage(rendering: Rendering, message: unknown, flavour: ChatFlavour): unknown {
  const { messages, joinsTexts, wantsReasoning, signsCalls } = flavour;
  if (!isObject(message)) return message;
  const fitted = withoutRefused(rendering, message, messages);
  const text = joinsTexts ? joinedTexts(fitted.content) : undefined;
  const members = Object.entries(fitted).flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [{ name }],
  );
  if (lacksReasoning(members, fitted.role, wantsReasoning)) fitted.reasoning_content = '';
  return { ...signed(fitted, signsCalls), ...(text !== undefined && { content: text }) };
}

function signed(message: Json, place: ChatFlavour['signsCalls']): Json {
  const missing = missingSignature(message, place);
  if (missing === null) return message;
  if ('ofMessage' in missing) return { ...message, ...missing.ofMessage };
  const [first, ...others] = message.tool_calls as Json[];
  return { ...message, tool_calls: [{ ...first, ...missing.ofFirstCall }, ...others] };
}

function fitTool(rendering: Rendering, tool: unknown, functions: RefusedMembers): unknown {
  if (!isObject(tool) || !isObject(tool.function)) return tool;
  return { ...tool, function: withoutRefused(rendering, tool.function, functions) };
}

/** Tells only of what the client asked for and does not get: under another name it is the same to him. */
function withoutRefused(rendering: Rendering, object: Json, refused: RefusedMembers): Json {
  const fitted: Json = {};
  for (const [name, value] of Object.entries(object)) {
    const instead = entryOf(refused, name);
    if (instead === undefined || value === undefined) fitted[name] = value;
    else if (instead !== null && object[instead] === undefined) fitted[instead] = value;
    else {
      const field = entryOf(askedBy, name);
      if (field !== undefined) rendering.drop(field, value, 'provider-refuses');
    }
  }
  return fitted;
}
