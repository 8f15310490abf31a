/** Renders a request of `POST /v1/responses` that stores nothing at the upstream. */
import { type OpenaiFacts, openaiFacts } from '../../../models/model-facts.ts';
import type {
  AnswerFormat,
  CallPart,
  Conversation,
  MediaPart,
  Part,
  ResultPart,
  ThinkingPart,
  Tool,
  ToolChoice,
  Turn,
} from '../../neutral/conversation.ts';
import { writeJson } from '../../neutral/json-text.ts';
import { type Losses, refuse } from '../../neutral/losses.ts';
import { fileNameOf, textOfDocument, urlOfSource } from '../../neutral/media.ts';
import { effortFor } from '../../neutral/requests/reasoning-effort.ts';
import {
  errorText,
  goOn,
  type RenderedRequest,
  Rendering,
  type Target,
  temperatureOf,
  userOf,
} from '../../neutral/requests/rendering.ts';
import { fitSchema } from '../../neutral/schemas/fit-schema.ts';
import { fitFormat, mayBeStrict } from '../answer-format.ts';

type Json = Record<string, unknown>;

/** OpenAI's API reference, "Create a model response". */
const nameRule = { maxLength: 64, others: '_-', beginsWithLetter: false };
const minOutputTokens = 16;
const tiers = ['auto', 'default', 'flex', 'priority'];

/** @throws GatewayError `invalid_value` if a response cannot express the conversation */
export function renderResponsesRequest(conversation: Conversation, target: Target, losses: Losses): RenderedRequest {
  const facts = openaiFacts(target.model);
  const rendering = new Rendering(conversation, target, { ids: 'openai', names: nameRule, losses });
  const { sampling, instructions, stream, serviceTier } = conversation;
  if ((sampling.answers ?? 1) > 1) rendering.refuse('answers', 'no-equal');
  dropUnequalled(rendering);
  const { format, prompts } = fitFormat(rendering, facts.isOpenai);
  const system = [...instructions.map(({ text }) => text), ...prompts];
  const body: Json = {
    model: target.model,
    instructions: system.length === 0 ? undefined : system.join('\n\n'),
    input: renderInput(rendering, facts),
    ...renderTools(rendering, facts),
    max_output_tokens: renderLimit(rendering),
    ...temperatureOf(rendering, facts),
    text: renderText(format, conversation.verbosity),
    reasoning: renderReasoning(rendering, facts),
    store: false,
    include: facts.efforts.length > 0 ? ['reasoning.encrypted_content'] : undefined,
    safety_identifier: userOf(rendering),
    prompt_cache_key: conversation.cacheKey,
    service_tier: tiers.includes(serviceTier ?? '') ? serviceTier : undefined,
    metadata: conversation.metadata,
    stream: stream ? true : undefined,
  };
  return { body, names: rendering.names };
}

function dropUnequalled(rendering: Rendering): void {
  const { sampling, stopSequences, serviceTier } = rendering.conversation;
  rendering.drop('topK', sampling.topK, 'no-equal');
  rendering.drop('logprobs', sampling.logprobs || sampling.topLogprobs || undefined, 'no-equal');
  rendering.drop('seed', sampling.seed, 'no-equal');
  rendering.drop('presencePenalty', sampling.presencePenalty || undefined, 'no-equal');
  rendering.drop('frequencyPenalty', sampling.frequencyPenalty || undefined, 'no-equal');
  rendering.drop('logitBias', sampling.logitBias, 'no-equal');
  rendering.drop('stopSequences', stopSequences.length === 0 ? undefined : stopSequences, 'no-equal');
  if (!tiers.includes(serviceTier ?? '')) rendering.drop('serviceTier', serviceTier, 'no-equal');
}

function renderLimit(rendering: Rendering): number | undefined {
  const { maxOutputTokens } = rendering.conversation;
  if (maxOutputTokens === undefined || maxOutputTokens >= minOutputTokens) return maxOutputTokens;
  rendering.emulate('maxOutputTokens', 'out-of-range');
  return minOutputTokens;
}

function renderTools(rendering: Rendering, { isOpenai }: OpenaiFacts): Json {
  const { tools, toolChoice, parallelToolCalls } = rendering.conversation;
  if (tools.length === 0) return {};
  const customTools = isOpenai ? tools.filter(({ kind }) => kind === 'custom') : [];
  const customNames = new Set(customTools.map(({ name }) => name));
  return {
    tools: tools.map((tool) => renderTool(rendering, tool, isOpenai)),
    tool_choice: toolChoice && renderChoice(rendering, toolChoice, customNames),
    parallel_tool_calls: parallelToolCalls,
  };
}

/** Sets `strict` explicitly, because Responses treats its absence as true. */
function renderTool(rendering: Rendering, tool: Tool, isOpenai: boolean): Json {
  const name = rendering.names.encode(tool);
  if (tool.kind === 'custom' && isOpenai) {
    return { type: 'custom', name, description: tool.description, format: tool.format };
  }
  const { description, schema, strict } = rendering.asFunction(tool);
  const parameters = fitSchema(schema, {}, { at: tool.at, losses: rendering.losses });
  const isStrict = strict === true && (!isOpenai || mayBeStrict(rendering, parameters));
  if (!isStrict) rendering.dropStrict(tool, 'no-equal');
  return { type: 'function', name, description, parameters, strict: isStrict };
}

function renderChoice(rendering: Rendering, choice: ToolChoice, customNames: ReadonlySet<string>): unknown {
  if (choice.mode === 'named') return renderNamed(rendering, choice.name, customNames);
  if (choice.mode !== 'subset') return choice.mode;
  const tools = choice.names.map((name) => renderNamed(rendering, name, customNames));
  return { type: 'allowed_tools', mode: choice.isRequired ? 'required' : 'auto', tools };
}

function renderNamed({ names }: Rendering, name: string, customNames: ReadonlySet<string>): Json {
  return { type: customNames.has(name) ? 'custom' : 'function', name: names.encode({ name }) };
}

function renderText(format: AnswerFormat | undefined, verbosity: string | undefined): Json | undefined {
  if (format === undefined && verbosity === undefined) return undefined;
  return { format: format && renderFormat(format), verbosity };
}

function renderFormat(format: AnswerFormat): Json {
  if (format.kind === 'json') return { type: 'json_object' };
  const { name, description, schema, strict } = format;
  return { type: 'json_schema', name, description, schema, strict: strict ?? false };
}

function renderReasoning(rendering: Rendering, facts: OpenaiFacts): Json | undefined {
  const { reasoning } = rendering.conversation;
  const effort = effortFor(rendering, facts);
  if (reasoning === undefined || facts.efforts.length === 0) return undefined;
  return { effort, summary: reasoning.isVisible === false || effort === 'none' ? undefined : 'auto' };
}

/** Renders turns as the items of a Responses request. */
function renderInput(rendering: Rendering, { isOpenai }: OpenaiFacts): Json[] {
  /** Calls of custom tools, whose results have their own type. */
  const customCalls = new Set<string>();
  const items = rendering.turns.flatMap((turn) => {
    if (turn.role === 'assistant') return renderAssistant(rendering, turn, { customCalls, takesCustom: isOpenai });
    const results = turn.parts.filter((part) => part.type === 'result');
    const content = renderContent(
      rendering,
      turn.parts.filter((part) => part.type !== 'result'),
    );
    const role = turn.role === 'system' ? 'developer' : 'user';
    return [
      ...results.map((result) => renderResult(rendering, result, customCalls.has(result.callId))),
      ...(content.length === 0 ? [] : [{ type: 'message', role, content }]),
    ];
  });
  if (items.at(-1)?.role !== 'assistant') return items;
  rendering.emulate('messages', isOpenai ? 'added-turn' : 'prefill');
  return isOpenai
    ? [...items, { type: 'message', role: 'user', content: [{ type: 'input_text', text: goOn }] }]
    : items;
}

interface CustomTools {
  customCalls: Set<string>;
  takesCustom: boolean;
}

function renderAssistant(rendering: Rendering, { parts }: Turn, customTools: CustomTools): Json[] {
  const items: Json[] = [];
  /** Content of the current message; adjacent texts form one. */
  let content: Json[] | null = null;
  for (const [index, part] of parts.entries()) {
    if (part.type === 'text' || part.type === 'refusal') {
      if (part.text === '') continue;
      if (content === null) {
        content = [];
        items.push({ type: 'message', role: 'assistant', content });
      }
      content.push(
        part.type === 'text' ? { type: 'output_text', text: part.text } : { type: 'refusal', refusal: part.text },
      );
      continue;
    }
    content = null;
    if (part.type === 'call') items.push(renderCall(rendering, part, customTools));
    else if (part.type === 'thinking') items.push(...renderThinking(rendering, part, parts[index + 1]));
    else rendering.losses.dropped(part.at, 'provider-item');
  }
  return items;
}

/** OpenAI refuses a reasoning item without the item that followed it. */
function renderThinking(rendering: Rendering, { seal, text, at }: ThinkingPart, next: Part | undefined): Json[] {
  const isFollowed = next?.type === 'text' || next?.type === 'call' || next?.type === 'thinking';
  if (!rendering.opens(seal) || seal.kind !== 'encrypted' || !isFollowed) {
    rendering.losses.dropped(at, seal === undefined ? 'unsealed-reasoning' : 'foreign-reasoning');
    return [];
  }
  const summary = text === '' ? [] : [{ type: 'summary_text', text }];
  return [{ type: 'reasoning', id: seal.itemId, summary, encrypted_content: seal.data }];
}

function renderCall(rendering: Rendering, call: CallPart, { customCalls, takesCustom }: CustomTools): Json {
  const name = rendering.names.encode(call);
  if (call.seal) rendering.losses.dropped(call.at, 'foreign-reasoning');
  if (call.kind === 'custom' && takesCustom) {
    customCalls.add(call.id);
    return { type: 'custom_tool_call', call_id: call.id, name, input: call.arguments };
  }
  const callArguments = call.kind === 'custom' ? writeJson({ input: call.arguments }) : call.arguments.trim() || '{}';
  return { type: 'function_call', call_id: call.id, name, arguments: callArguments };
}

function renderResult(rendering: Rendering, { callId, parts, isError, at }: ResultPart, isCustom: boolean): Json {
  if (isError && at !== '') rendering.losses.emulated(`${at}.is_error`, 'as-text');
  const type = isCustom ? 'custom_tool_call_output' : 'function_call_output';
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const output = texts.join('\n');
  if (texts.length === parts.length) return { type, call_id: callId, output: isError ? errorText(output) : output };
  const content = renderContent(rendering, parts);
  const isMarked = !isError || errorText(output) === output;
  const mark = isMarked ? [] : [{ type: 'input_text', text: errorText('') }];
  return { type, call_id: callId, output: [...mark, ...content] };
}

function renderContent(rendering: Rendering, parts: readonly Part[]): Json[] {
  return parts.flatMap((part): Json[] => {
    if (part.type === 'text' || part.type === 'refusal') {
      return part.text === '' ? [] : [{ type: 'input_text', text: part.text }];
    }
    if (part.type === 'media') return [renderMedia(part)];
    rendering.losses.dropped(part.at, 'provider-item');
    return [];
  });
}

function renderMedia(part: MediaPart): Json {
  const { kind, source, detail, at } = part;
  if (source.type === 'text') return { type: 'input_text', text: textOfDocument(part, source.text) };
  if (source.type === 'file') return refuse(at, 'foreign-file');
  // OpenAI's schema requires `detail`, and vLLM refuses an image without it (vllm-project/vllm#57241).
  if (kind === 'image') return { type: 'input_image', image_url: urlOfSource(source), detail: detail ?? 'auto' };
  if (kind !== 'document') return refuse(at, 'media');
  if (source.type === 'url') return { type: 'input_file', file_url: source.url };
  return { type: 'input_file', filename: fileNameOf(part), file_data: urlOfSource(source) };
}
