/**
 * Parses a request of `POST /v1/messages`. Source: Anthropic's API reference, "Create a Message", versions 2023-06-01
 * and 2026-10-21, and `resources/messages/messages.ts` of its TypeScript SDK.
 */
import { isObject } from '../../../contract/is-object.ts';
import { boundedPattern } from '../../../ground/bounded-pattern.ts';
import { refuseStoredThread } from '../../core/dialects/hosted-claude.ts';
import type { ClientApi } from '../../neutral/client-api.ts';
import {
  type AnswerFormat,
  addSystem,
  type Conversation,
  type ReasoningRequest,
  type TextPart,
  type Tool,
  type ToolChoice,
  type Turn,
} from '../../neutral/conversation.ts';
import { Fields } from '../../neutral/fields.ts';
import { invalid, type Losses } from '../../neutral/losses.ts';
import { sessionOf } from '../messages.ts';
import { parseBlocks, toolChangeIn } from './parse-blocks.ts';

const schema = { type: 'object', properties: { path: { type: 'string' } } };
const cached = { cache_control: { type: 'ephemeral' } };

/** Anthropic's API as clients of `POST /v1/messages` use it. */
export const messagesClient: ClientApi = {
  wire: 'anthropic-messages',
  fieldNames: {
    temperature: 'temperature',
    topP: 'top_p',
    topK: 'top_k',
    maxOutputTokens: 'max_tokens',
    stopSequences: 'stop_sequences',
    format: 'output_config.format',
    strictTool: 'tools[].strict',
    reasoning: 'thinking',
    toolChoice: 'tool_choice',
    parallelToolCalls: 'tool_choice.disable_parallel_tool_use',
    user: 'metadata.user_id',
    cacheKey: 'metadata.user_id',
    serviceTier: 'service_tier',
    messages: 'messages',
  },
  callIds: 'anthropic',
  hasSealedCalls: false,
  takesLateSeals: false,
  callMark: 'tool_use',
  resultId: 'tool_use_id',
  hasRefusals: false,
  hasCitations: false,
  wantsWholeArguments: true,
  specimen: {
    model: 'model',
    max_tokens: 1_000,
    system: [{ type: 'text', text: 'Be kind.', ...cached }],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello', ...cached }] }],
    tools: [
      { name: 'read', input_schema: schema, ...cached },
      { type: 'web_search_20250305', name: 'web_search' },
    ],
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    temperature: 0.5,
    top_p: 0.9,
    top_k: 5,
    stop_sequences: ['END'],
    thinking: { type: 'enabled', budget_tokens: 2_000 },
    service_tier: 'auto',
    context_management: {},
    mcp_servers: [],
    container: 'container',
  },
};

/** @throws GatewayError `invalid_value` that names the invalid field */
export function parseMessagesRequest(body: unknown, losses: Losses): Conversation {
  const fields = new Fields(body, '', losses);
  parseThread(fields);
  const messages = fields.items('messages');
  if (messages.length === 0) invalid('messages', 'expected at least one message');
  const opening = parseSystem(fields);
  const choice = fields.fields('tool_choice');
  const output = fields.fields('output_config');
  const conversation: Conversation = {
    client: messagesClient,
    model: fields.requiredText('model'),
    ...parseMessages(messages, opening),
    tools: toolsAfter(messages, parseTools(fields, body)),
    toolChoice: choice && parseChoice(choice),
    parallelToolCalls: choice?.boolean('disable_parallel_tool_use') === true ? false : undefined,
    maxOutputTokens: fields.number('max_tokens') ?? invalid('max_tokens', 'it is missing'),
    sampling: {
      temperature: fields.number('temperature'),
      topP: fields.number('top_p'),
      topK: fields.number('top_k'),
    },
    stopSequences: fields.texts('stop_sequences') ?? [],
    format: parseFormat(output?.fields('format')),
    reasoning: parseReasoning(fields.fields('thinking'), output?.text('effort')),
    stream: fields.streamFlag('stream') ?? false,
    streamUsage: true,
    ...parseUser(fields.object('metadata')?.user_id),
    serviceTier: fields.text('service_tier') === 'standard_only' ? 'default' : undefined,
  };
  for (const each of [choice, output]) each?.dropRest();
  fields.drop('no-equal', 'cache_control', 'context_management', 'inference_geo', 'speed', 'diagnostics');
  fields.drop('provider-tool', 'mcp_servers', 'container', 'fallbacks');
  // Vertex and Bedrock expect the version in the body.
  fields.ignore('anthropic_version', 'anthropic_beta');
  fields.dropRest();
  return conversation;
}

/** Claude Code puts several ids into it, of which only the session id is sent to another provider. */
function parseUser(userId: unknown): Pick<Conversation, 'user' | 'cacheKey'> {
  const session = sessionOf(userId);
  if (session !== undefined) return { cacheKey: session };
  return typeof userId === 'string' && userId !== '' ? { user: userId } : {};
}

/** @throws GatewayError `thread_not_found` or `thread_unsupported_request` */
function parseThread(fields: Fields): void {
  const thread = fields.fields('thread');
  if (thread === undefined) return;
  refuseStoredThread(thread.text('type'));
  thread.dropRest();
  fields.losses.emulated('thread', 'unkept-thread');
}

interface SystemParts {
  instructions: TextPart[];
  turns: Turn[];
}

/** System messages before all other messages are added to `system`. */
function parseMessages(messages: readonly Fields[], { instructions, turns }: SystemParts): SystemParts {
  for (const message of messages) {
    const role = message.requiredText('role');
    const parts = parseBlocks(message, 'content');
    message.dropRest();
    if (role === 'user' || role === 'assistant') turns.push({ role, parts });
    else if (role === 'system') addSystem({ instructions, turns }, parts, message.losses);
    else invalid(message.path('role'), 'it is not a valid role');
  }
  return { instructions, turns };
}

const billingHeader = 'x-anthropic-billing-header:';

/**
 * Claude Code's first block is intended for Anthropic's own service; before version 2.1.181 it changed in each turn.
 */
function parseSystem(fields: Fields): SystemParts {
  const system: SystemParts = { instructions: [], turns: [] };
  addSystem(system, parseBlocks(fields, 'system'), fields.losses);
  if (system.instructions[0]?.text.startsWith(billingHeader)) system.instructions.shift();
  return system;
}

/**
 * The tools in effect at the end of the conversation, whose system messages may add or remove the client's own (beta
 * `inline-tools-2026-09-15`): no other API can change them on the way.
 */
function toolsAfter(messages: readonly Fields[], { declared, seen }: DeclaredTools): Tool[] {
  const known = new Map(declared.map((tool) => [tool.name, tool]));
  const offered = new Map(seen.map((tool) => [tool.name, tool]));
  let hasChanges = false;
  for (const message of messages) {
    if (message.text('role') !== 'system' || typeof message.any('content') === 'string') continue;
    for (const block of message.items('content')) {
      const change = toolChangeIn(block);
      if (change === null) continue;
      hasChanges = true;
      const [defined] = change.definition ? parseTool(change.definition) : [];
      if (defined) known.set(defined.name, defined);
      const tool = change.isRemoval ? undefined : known.get(change.name);
      if (tool) offered.set(change.name, tool);
      else offered.delete(change.name);
    }
  }
  return hasChanges ? [...offered.values()] : seen;
}

interface DeclaredTools {
  declared: Tool[];
  /** Those that the model sees at Anthropic from the start of this turn: not what a search may still find. */
  seen: Tool[];
}

function parseTools(fields: Fields, body: unknown): DeclaredTools {
  const { isSeen, isSearchLost } = deferralOf(isObject(body) ? body : {});
  const tools = fields.items('tools').flatMap((tool) => {
    const isDeferred = tool.boolean('defer_loading') === true;
    if (isDeferred && isSearchLost) tool.losses.dropped(tool.path('defer_loading'), 'no-equal');
    return parseTool(tool).map((parsed) => ({ parsed, isHidden: isDeferred && !isSeen(parsed.name) }));
  });
  return {
    declared: tools.map(({ parsed }) => parsed),
    seen: tools.filter(({ isHidden }) => !isHidden).map(({ parsed }) => parsed),
  };
}

/** Anthropic's own tools have a `type`: they run at Anthropic, or at the client in a form that Claude knows. */
function parseTool(fields: Fields): Tool[] {
  const type = fields.text('type');
  const known = type === undefined || type === 'custom' ? undefined : knownTool(type, fields);
  if (type !== undefined && type !== 'custom') {
    if (known === undefined) {
      fields.losses.dropped(fields.at, fields.runner === 'provider' ? 'provider-tool' : 'no-equal');
      return [];
    }
    fields.losses.emulated(fields.at, 'as-function');
    fields.ignore('display_number', 'max_characters', 'enable_zoom');
  }
  const tool: Tool = {
    kind: 'function',
    name: fields.requiredText('name'),
    description: known?.description ?? fields.text('description'),
    schema: known?.schema ?? fields.object('input_schema'),
    strict: fields.boolean('strict'),
    at: fields.at,
  };
  fields.ignore('defer_loading');
  fields.drop('no-equal', 'cache_control', 'input_examples', 'allowed_callers', 'eager_input_streaming');
  fields.dropRest();
  return [tool];
}

function parseChoice(choice: Fields): ToolChoice {
  const type = choice.requiredText('type');
  if (type === 'auto' || type === 'none') return { mode: type };
  if (type === 'any') return { mode: 'required' };
  if (type === 'tool') return { mode: 'named', name: choice.requiredText('name') };
  return invalid(choice.path('type'), 'it is not one of auto, any, tool, none');
}

function parseFormat(format: Fields | undefined): AnswerFormat | undefined {
  if (format === undefined) return undefined;
  if (format.text('type') !== 'json_schema') {
    format.losses.dropped(format.at, 'unknown-field');
    return undefined;
  }
  const schema = format.object('schema') ?? {};
  format.dropRest();
  return { kind: 'schema', name: 'answer', schema, strict: true };
}

function parseReasoning(thinking: Fields | undefined, effort: string | undefined): ReasoningRequest | undefined {
  const type = thinking?.text('type');
  const display = thinking?.text('display');
  const budget = thinking?.number('budget_tokens');
  thinking?.drop('no-equal', 'block_binding');
  thinking?.dropRest();
  if (type === 'disabled' || type === 'between_tools') return { effort: 'none' };
  const isVisible = display === undefined ? undefined : display !== 'omitted';
  if (effort !== undefined) return { effort, isVisible };
  if (type === 'enabled') return { budgetTokens: budget, isVisible };
  return type === undefined ? undefined : { isVisible };
}

interface Deferral {
  /** Whether the model sees the definition of a deferred tool with this name. */
  isSeen: (name: unknown) => boolean;
  /** Anthropic would search, which no other API does: then all tools are seen from the start. */
  isSearchLost: boolean;
}

/**
 * Tools with `defer_loading`: Claude sees their definitions only once a search has found them and a `tool_reference`
 * names them. Sources: Claude docs, "Tool search tool"; requests of Claude Code 2.1.197, whose own tool ToolSearch
 * searches.
 *
 * Reads the messages only if a tool is deferred.
 */
function deferralOf(body: Record<string, unknown>): Deferral {
  const tools = Array.isArray(body.tools) ? body.tools.filter(isObject) : [];
  if (!tools.some(({ defer_loading: isDeferred }) => isDeferred === true)) return allSeen;
  const searches = tools.some(({ type }) => typeof type === 'string' && type.startsWith('tool_search_tool_'));
  if (searches) return { ...allSeen, isSearchLost: true };
  const found = namesIn(body);
  return { isSeen: (name) => found.has(name), isSearchLost: false };
}

const allSeen: Deferral = { isSeen: () => true, isSearchLost: false };

/** The tools that are referred to, have been called, or that the choice of a tool demands. */
function namesIn({ messages, tool_choice: choice }: Record<string, unknown>): Set<unknown> {
  const names = new Set<unknown>(isObject(choice) ? [choice.name] : []);
  const collect = (content: unknown): void => {
    if (!Array.isArray(content)) return;
    for (const block of content.filter(isObject)) {
      if (block.type === 'tool_reference') names.add(block.tool_name);
      else if (block.type === 'tool_use') names.add(block.name);
      else collect(isObject(block.content) ? block.content.tool_references : block.content);
    }
  };
  if (Array.isArray(messages)) for (const message of messages.filter(isObject)) collect(message.content);
  return names;
}

// Tools that Claude knows by their type and that clients run: what a model of another service has to be told of
// them. Sources: Anthropic, "Bash tool", "Text editor tool", "Memory tool", "Computer use tool".

type Json = Record<string, unknown>;

interface KnownTool {
  description: string;
  schema: Json;
}

const text = { type: 'string' };
const number = { type: 'integer' };
const point = { type: 'array', items: number, minItems: 2, maxItems: 2 };

const one = (...values: string[]) => ({ ...text, enum: values });
const object = (properties: Json, ...required: string[]) => ({ type: 'object', properties, required });

const editing = {
  path: text,
  file_text: text,
  old_str: text,
  new_str: text,
  insert_line: number,
  insert_text: text,
  view_range: point,
};

const bash: KnownTool = {
  description: 'Runs a command in a persistent bash session, or restarts the session.',
  schema: object({ command: text, restart: { type: 'boolean' } }),
};

const textEditor: KnownTool = {
  description:
    'Views, creates and edits files: view (path, view_range), create (path, file_text), str_replace (path, old_str, new_str), insert (path, insert_line, insert_text).',
  schema: object({ command: one('view', 'create', 'str_replace', 'insert'), ...editing }, 'command', 'path'),
};

const memory: KnownTool = {
  description:
    'Keeps notes in files below /memories: view (path), create (path, file_text), str_replace (path, old_str, new_str), insert (path, insert_line, insert_text), delete (path), rename (old_path, new_path).',
  schema: object(
    {
      command: one('view', 'create', 'str_replace', 'insert', 'delete', 'rename'),
      ...{ ...editing, old_path: text, new_path: text },
    },
    'command',
  ),
};

const actions = [
  ...['screenshot', 'mouse_move', 'left_click', 'right_click', 'middle_click', 'double_click', 'triple_click'],
  ...['left_click_drag', 'left_mouse_down', 'left_mouse_up', 'scroll', 'key', 'hold_key', 'type', 'wait'],
];

function computer(fields: Fields): KnownTool {
  const [width, height] = [fields.number('display_width_px'), fields.number('display_height_px')];
  return {
    description: `Uses a screen of ${width ?? 1024} × ${height ?? 768} pixels with mouse and keyboard. Take a screenshot to see it.`,
    schema: object(
      {
        action: one(...actions),
        ...{ coordinate: point, start_coordinate: point, text, duration: { type: 'number' } },
        ...{ scroll_direction: one('up', 'down', 'left', 'right'), scroll_amount: number },
      },
      'action',
    ),
  };
}

/** A type such as `bash_20250124` ends in the date of its version, which changes options but not what a model has to know. */
const dated = boundedPattern(/^([a-z_]{1,40})_\d{8}$/);

/** Undefined for a tool that only Anthropic can run, or that is not known. */
function knownTool(type: string, fields: Fields): KnownTool | undefined {
  switch (dated.exec(type)?.[1] ?? type) {
    case 'bash':
      return bash;
    case 'text_editor':
      return textEditor;
    case 'memory':
      return memory;
    case 'computer':
      return computer(fields);
    default:
      return undefined;
  }
}
