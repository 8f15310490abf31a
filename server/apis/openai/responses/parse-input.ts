/** Parses the items of a Responses request into instructions and turns. */
import type {
  CallPart,
  Conversation,
  MediaPart,
  MediaSource,
  Part,
  RefusalPart,
  ResultPart,
  TextPart,
  ThinkingPart,
  Turn,
} from '../../neutral/conversation.ts';
import type { Fields } from '../../neutral/fields.ts';
import { writeJson } from '../../neutral/json-text.ts';
import { invalid, refuse } from '../../neutral/losses.ts';
import { kindOfMediaType, sourceOfData, sourceOfUrl } from '../../neutral/media.ts';
import { addSystem } from '../../neutral/requests/add-system.ts';
import { unwrapSeal } from '../../neutral/requests/carried-reasoning.ts';
import { ownCallInput } from './own-tools.ts';

export function parseInput(request: Fields): Pick<Conversation, 'instructions' | 'turns'> {
  const input = request.any('input') ?? invalid('input', 'it is missing');
  if (typeof input === 'string') {
    return { instructions: [], turns: [{ role: 'user', parts: [{ type: 'text', text: input, at: 'input' }] }] };
  }
  const items = request.items('input');
  if (items.length === 0) invalid('input', 'expected at least one item');
  const reading: Reading = { instructions: [], turns: [], callIds: callIdsOf(items) };
  for (const item of items) takeItem(item, reading);
  return { instructions: reading.instructions, turns: reading.turns };
}

interface Reading {
  instructions: TextPart[];
  turns: Turn[];
  callIds: ReadonlyMap<unknown, string>;
}

/** By the id of its item, the id of each call: OpenAI's types have only the former in the result of a local shell. */
function callIdsOf(items: readonly Fields[]): Map<unknown, string> {
  const calls = items.map(({ whole }) => whole).filter(({ type }) => type === 'local_shell_call');
  return new Map(calls.flatMap(({ id, call_id: callId }) => (typeof callId === 'string' ? [[id, callId]] : [])));
}

function takeItem(item: Fields, reading: Reading): void {
  const { turns } = reading;
  const type = item.text('type') ?? 'message';
  const callId = callIdOf(item, type, reading);
  if (type === 'message') takeMessage(item, reading);
  else if (type === 'reasoning') add(turns, 'assistant', parseReasoning(item));
  else if (type === 'item_reference') refuse(item.at, 'provider-item');
  else if (type.endsWith('_output') && callId !== undefined) add(turns, 'user', parseResult(item, callId));
  else if (type.endsWith('_call') && callId !== undefined) add(turns, 'assistant', parseCall(item, type));
  else {
    add(turns, 'assistant', parseProviderItem(item, type));
    return;
  }
  item.ignore('id', 'status', 'phase');
  item.dropRest();
}

function callIdOf(item: Fields, type: string, { callIds }: Reading): string | undefined {
  const id = item.text('call_id');
  if (id !== undefined || type !== 'local_shell_call_output') return id;
  return callIds.get(item.any('id')) ?? item.text('id');
}

function takeMessage(item: Fields, { instructions, turns }: Reading): void {
  const role = item.requiredText('role');
  const parts = parseContent(item);
  if (role === 'system' || role === 'developer') {
    addSystem({ instructions, turns }, parts, item.losses);
  } else if (role === 'user') turns.push({ role, parts });
  else if (role === 'assistant') for (const part of parts) add(turns, role, part);
  else invalid(item.path('role'), `'${role.slice(0, 40)}' is not a valid role`);
}

/** Consecutive items of the assistant form one turn, and so do the results of its calls. */
function add(turns: Turn[], role: 'user' | 'assistant', part: Part): void {
  const before = turns.at(-1);
  const isSame = before?.role === role && (role === 'assistant' || before.parts.at(-1)?.type === 'result');
  if (isSame) before.parts.push(part);
  else turns.push({ role, parts: [part] });
}

function parseContent(fields: Fields): (TextPart | RefusalPart | MediaPart)[] {
  const content = fields.any('content');
  if (content === undefined) return [];
  if (typeof content === 'string')
    return content === '' ? [] : [{ type: 'text', text: content, at: fields.path('content') }];
  return fields.items('content').map(parsePart);
}

function parsePart(part: Fields): TextPart | RefusalPart | MediaPart {
  const type = part.requiredText('type');
  const at = part.at;
  if (type === 'refusal') return { type, text: part.requiredText('refusal'), at };
  if (type === 'input_image') {
    return { type: 'media', kind: 'image', source: sourceOf(part, ['image_url']), detail: part.text('detail'), at };
  }
  if (type === 'input_file') {
    const source = sourceOf(part, ['file_data', 'file_url']);
    const kind = source.type === 'base64' ? kindOfMediaType(source.mediaType) : 'document';
    return { type: 'media', kind, source, name: part.text('filename'), at };
  }
  if (type !== 'input_text' && type !== 'output_text' && type !== 'text') {
    return invalid(part.path('type'), `'${type.slice(0, 40)}' is no type of content`);
  }
  return { type: 'text', text: part.requiredText('text'), at };
}

function sourceOf(part: Fields, names: readonly string[]): MediaSource {
  const id = part.text('file_id');
  if (id !== undefined) return { type: 'file', id };
  const url = names.map((name) => part.text(name)).find((value) => value !== undefined);
  return sourceOfUrl(url ?? invalid(part.path(names[0] ?? ''), 'it is missing'));
}

/** Open models return the text of their reasoning, OpenAI's own a summary. */
function parseReasoning(item: Fields): ThinkingPart {
  const texts = [...item.items('summary'), ...item.items('content')].map((part) => part.text('text') ?? '');
  const encrypted = item.text('encrypted_content');
  const seal = encrypted === undefined ? undefined : unwrapSeal(encrypted, 'encrypted');
  return { type: 'thinking', text: texts.join('\n\n'), seal, at: item.at };
}

function parseCall(item: Fields, type: string): CallPart {
  const id = item.requiredText('call_id');
  const at = item.at;
  if (type === 'function_call' || type === 'custom_tool_call') {
    const isCustom = type === 'custom_tool_call';
    const callArguments = item.text(isCustom ? 'input' : 'arguments') ?? '';
    const kind = isCustom ? 'custom' : 'function';
    const namespace = item.text('namespace');
    return { type: 'call', id, name: item.requiredText('name'), namespace, arguments: callArguments, kind, at };
  }
  item.losses.emulated(at, 'as-function');
  item.ignore('arguments', 'action', 'actions', 'operation', 'environment', 'pending_safety_checks');
  const input = ownCallInput(item.whole);
  const callArguments = typeof input === 'string' ? input : writeJson(input);
  return { type: 'call', id, name: type.slice(0, -'_call'.length), arguments: callArguments, kind: 'function', at };
}

function parseResult(item: Fields, callId: string): ResultPart {
  const isError = item.text('type') === 'apply_patch_call_output' && item.text('status') === 'failed';
  item.ignore('max_output_length', 'acknowledged_safety_checks');
  return { type: 'result', callId, parts: parseOutput(item), isError, at: item.at };
}

/** Accepts a string, a list of content parts or, for one of OpenAI's own tools, an object. */
function parseOutput(item: Fields): ResultPart['parts'] {
  const screenshot = parseScreenshot(item);
  if (screenshot) return [screenshot];
  const output = item.any('output') ?? item.any('tools') ?? '';
  const at = item.path('output');
  if (typeof output === 'string') return output === '' ? [] : [{ type: 'text', text: output, at }];
  const isContent = item.text('type') === 'function_call_output' || item.text('type') === 'custom_tool_call_output';
  if (!isContent) return [{ type: 'text', text: writeJson(output), at }];
  return item.items('output').map((each) => {
    const part = parsePart(each);
    return part.type === 'refusal' ? { ...part, type: 'text' } : part;
  });
}

/** The field of each item type that contains its results. Other items contain nothing that a model could read. */
const outputNames: Readonly<Record<string, string>> = {
  code_interpreter_call: 'outputs',
  file_search_call: 'results',
  mcp_call: 'output',
};

/**
 * Converts items of tools that OpenAI runs itself into parts that any model can read. Other APIs have no calls of such
 * tools, but the results are part of the conversation. Source: OpenAI's API reference, "Create a model response",
 * `input`.
 *
 * @throws GatewayError `invalid_value` for a compacted history, which only OpenAI can decrypt
 */
function parseProviderItem(item: Fields, type: string): Part {
  const { at } = item;
  if (type.startsWith('compaction')) refuse(at, 'provider-item');
  const image = type === 'image_generation_call' ? item.text('result') : undefined;
  if (image !== undefined) {
    const source = sourceOfData(`image/${item.text('output_format') ?? 'png'}`, image);
    return { type: 'media', kind: 'image', source, at };
  }
  const name = Object.hasOwn(outputNames, type) ? outputNames[type] : undefined;
  const output = name === undefined ? undefined : item.any(name);
  if (output === undefined) return { type: 'foreign', name: type, at };
  item.losses.emulated(at, 'as-text');
  const result = typeof output === 'string' ? output : writeJson(output);
  return { type: 'text', isApart: true, text: `Result of ${type.slice(0, -'_call'.length)}:\n${result}`, at };
}

/** Reads the screenshot from the output of a computer call; undefined for any other output. */
function parseScreenshot(item: Fields): MediaPart | undefined {
  if (item.text('type') !== 'computer_call_output') return undefined;
  const output = item.fields('output');
  const at = item.path('output');
  const id = output?.text('file_id');
  if (id !== undefined) return { type: 'media', kind: 'image', source: { type: 'file', id }, at };
  const url = output?.text('image_url');
  if (url === undefined) return undefined;
  const source = sourceOfUrl(url);
  return { type: 'media', kind: source.type === 'base64' ? kindOfMediaType(source.mediaType) : 'image', source, at };
}
