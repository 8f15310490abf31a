/**
 * Reports the formal errors for which each service refuses a request. Sources: the services' API references, and error
 * messages in public reports about other gateways.
 */

import type { UpstreamWireName } from '../../../../server/apis/neutral/conversation.ts';
import { isObject } from '../../../../server/contract/is-object.ts';
import type { Json } from './translating.ts';

// What the services refuse in the schema of a tool's input, in their own words where they are known.

/** @param upstream `Claude`, `Gemini` and `Nova` have rules of their own */
export function checkToolSchema(schema: unknown, upstream: string, complain: (text: string) => void): void {
  if (!isObject(schema)) return;
  if (schema.type !== 'object') complain(`schema must be of type "object", got ${JSON.stringify(schema.type)}`);
  if (upstream !== 'Claude' && !isObject(schema.properties)) complain('object schema missing properties');
  for (const keyword of ['oneOf', 'anyOf', 'allOf', 'enum', 'not', '$ref'])
    if (schema[keyword] !== undefined) complain(`schema must not have ${keyword} at the top level`);
  const isPlain = Object.keys(schema).every((name) => ['type', 'properties', 'required'].includes(name));
  if (upstream === 'Nova' && !isPlain) complain('only type, properties and required are supported at the top level');
  checkInside(schema, upstream, complain);
}

function checkInside(value: unknown, upstream: string, complain: (text: string) => void): void {
  if (Array.isArray(value)) for (const each of value) checkInside(each, upstream, complain);
  if (!isObject(value)) return;
  const { type, items, exclusiveMinimum, exclusiveMaximum, $ref } = value as Json;
  if (upstream !== 'Claude' && type === 'array' && !isObject(items)) complain('array schema missing items');
  const limits = ['minItems', 'maxItems', 'minLength', 'maxLength', 'minimum', 'maximum'];
  if (limits.some((name) => typeof value[name] === 'string')) complain('a limit is not of type "number"');
  if ([exclusiveMinimum, exclusiveMaximum].some((limit) => typeof limit === 'boolean')) complain('a limit of draft 4');
  const isBare = Object.keys(value).every((name) => name.startsWith('$'));
  if (upstream === 'Gemini' && typeof $ref === 'string' && !isBare) complain('$ref beside other keywords');
  for (const each of Object.values(value)) checkInside(each, upstream, complain);
}

// Reports the formal errors for which Bedrock's Converse API refuses a request. Sources: Amazon Bedrock API reference,
// "Converse", `ToolUseBlock`, `DocumentBlock`; browser-use/browser-use#710; vxcontrol/pentagi#196.

interface ConverseBlock extends Json {
  toolUse?: Json;
  toolResult?: { toolUseId: string; content: ConverseBlock[] };
  document?: { name: string };
  text?: string;
}
interface ConverseMessage {
  role: string;
  content: ConverseBlock[];
}

const fields = ['messages', 'system', 'inferenceConfig', 'toolConfig', 'outputConfig', 'additionalModelRequestFields'];
const kinds = ['text', 'image', 'document', 'video', 'toolUse', 'toolResult', 'reasoningContent', 'cachePoint'];

export function checkConverse(body: Json, complain: Complain): void {
  for (const name of Object.keys(body)) if (!fields.includes(name)) complain(`the field ${name}`);
  const messages = body.messages as ConverseMessage[];
  if (messages[0]?.role !== 'user') complain('A conversation must start with a user message');
  if (messages.at(-1)?.role !== 'user') complain('This model does not support assistant message prefill');
  const blocks = messages.flatMap(({ content }) => content);
  if (body.toolConfig === undefined && blocks.some(({ toolUse, toolResult }) => toolUse ?? toolResult))
    complain('The toolConfig field must be defined when using toolUse and toolResult content blocks');
  for (const [index, message] of messages.entries()) {
    if (messages[index - 1]?.role === message.role) complain('roles must alternate');
    checkMessage(message, complain);
    const called = message.content.flatMap(({ toolUse }) => (toolUse ? [toolUse.toolUseId] : []));
    const next = messages[index + 1]?.content ?? [];
    const answered = next.flatMap(({ toolResult }) => (toolResult ? [toolResult.toolUseId] : []));
    if (JSON.stringify(called) !== JSON.stringify(answered)) complain('toolResult and toolUse blocks do not match');
  }
  const ids = blocks.flatMap(({ toolUse }) => (toolUse ? [toolUse.toolUseId] : []));
  if (new Set(ids).size !== ids.length) complain('an id stands twice');
  const names = blocks.flatMap(({ document }) => (document ? [document.name] : []));
  if (new Set(names).size !== names.length) complain('Messages contain document blocks with the same name');
  checkTools(body.toolConfig as Json | undefined, complain);
  if (body.outputConfig) checkFormat(body.outputConfig as OutputConfig, complain);
}

interface OutputConfig {
  textFormat: { type: string; structure: { jsonSchema: { schema: string } } };
}

/** Source: Amazon Bedrock user guide, "Get validated JSON results from models". */
function checkFormat({ textFormat }: OutputConfig, complain: Complain): void {
  if (textFormat.type !== 'json_schema') complain(`textFormat.type ${textFormat.type}`);
  checkClosed(JSON.parse(textFormat.structure.jsonSchema.schema), complain);
}

/** Objects must be closed, and numbers and texts must have no bounds. */
function checkClosed(schema: Json, complain: Complain): void {
  if (schema.type === 'object' && schema.additionalProperties !== false) complain('additionalProperties must be false');
  for (const name of ['minimum', 'maximum', 'minLength', 'maxLength'])
    if (name in schema) complain(`the keyword ${name}`);
  for (const inner of Object.values((schema.properties as Json | undefined) ?? {}))
    checkClosed(inner as Json, complain);
}

function checkMessage({ role, content }: ConverseMessage, complain: Complain): void {
  if (content.length === 0) complain('The content field is empty');
  const hasResults = content.some(({ toolResult }) => toolResult);
  if (hasResults && content.some(({ toolResult }) => !toolResult))
    complain('Conversation blocks and tool result blocks cannot be provided in the same turn');
  for (const block of content) {
    const [kind, ...more] = Object.keys(block);
    if (kind === undefined || more.length > 0 || !kinds.includes(kind)) complain(`a block of ${kind}`);
    if (block.text?.trim() === '') complain('The text field is blank');
    if (block.toolUse) checkCall(block.toolUse, complain);
    if (block.toolResult) checkMessage({ role: 'result', content: block.toolResult.content }, complain);
    if (block.reasoningContent && role !== 'assistant') complain('User messages cannot contain reasoning content');
    if (block.document) checkDocument(block.document, content, complain);
  }
}

function checkCall({ toolUseId, name, input }: Json, complain: Complain): void {
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(String(toolUseId))) complain(`toolUseId ${toolUseId}`);
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(String(name))) complain(`toolUse.name ${name}`);
  if (typeof input !== 'object' || input === null || Array.isArray(input)) complain('toolUse.input is no object');
}

function checkDocument({ name }: { name: string }, content: readonly ConverseBlock[], complain: Complain): void {
  if (!/^[A-Za-z0-9\-()[\]]+(?: [A-Za-z0-9\-()[\]]+)*$/.test(name) || name.length > 200) complain(`the name ${name}`);
  if (content.every(({ text }) => text === undefined)) complain('A text block is required with documents');
}

interface ToolSpec {
  name: string;
  description?: string;
  inputSchema: { json: Json };
  strict?: boolean;
}

function checkTools(config: Json | undefined, complain: Complain): void {
  if (config === undefined) return;
  const tools = config.tools as { toolSpec: ToolSpec }[];
  if (tools.length === 0) complain('toolConfig.tools is empty');
  const names = tools.map(({ toolSpec }) => toolSpec.name);
  if (new Set(names).size !== names.length) complain('a name stands twice');
  for (const { toolSpec } of tools) {
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(toolSpec.name)) complain(`the name ${toolSpec.name}`);
    if (toolSpec.description === '') complain('a description is empty');
    if (toolSpec.inputSchema.json.type !== 'object') complain('inputSchema.json.type must be object');
    if (toolSpec.strict) checkClosed(toolSpec.inputSchema.json, complain);
  }
  const choices = Object.keys((config.toolChoice as Json | undefined) ?? { auto: {} });
  if (choices.length !== 1 || !['auto', 'any', 'tool'].includes(String(choices[0]))) complain('toolChoice');
}

type Complain = (text: string) => void;

export function complaintsOf(wire: UpstreamWireName, body: Json): string[] {
  const complaints: string[] = [];
  const complain = (text: string) => complaints.push(text);
  checks[wire](body, complain);
  for (const [schema, upstream] of schemasIn(body)) checkToolSchema(schema, upstream, complain);
  return complaints;
}

/** The schemas of a request's tools, in whatever API. */
function schemasIn({ tools, toolConfig }: Json): [schema: unknown, upstream: string][] {
  const all = [tools, isObject(toolConfig) ? toolConfig.tools : undefined].flatMap((list) =>
    Array.isArray(list) ? list.filter(isObject) : [],
  );
  return all.flatMap((tool): [unknown, string][] => {
    const { function: called, toolSpec, functionDeclarations } = tool;
    if (Array.isArray(functionDeclarations))
      return functionDeclarations.map((each: Json) => [each.parametersJsonSchema, 'Gemini']);
    if (isObject(toolSpec) && isObject(toolSpec.inputSchema)) return [[toolSpec.inputSchema.json, 'Converse']];
    if (tool.input_schema !== undefined) return [[tool.input_schema, 'Claude']];
    return [[isObject(called) ? called.parameters : tool.parameters, 'OpenAI']];
  });
}

const checks: Record<UpstreamWireName, (body: Json, complain: Complain) => void> = {
  'anthropic-messages': checkMessages,
  'openai-chat': checkChat,
  'openai-responses': checkResponses,
  'gemini-generate': checkGenerate,
  'bedrock-converse': checkConverse,
};

interface Block extends Json {
  type: string;
}

function checkMessages(body: Json, complain: Complain): void {
  const messages = body.messages as { role: string; content: Block[] }[];
  if (messages[0]?.role !== 'user') complain('the first message is not the user’s');
  if (messages.at(-1)?.role === 'assistant' && /4-6|[5-9]/.test(String(body.model).slice(-3))) complain('prefill');
  const ids = new Set<unknown>();
  for (const [index, { role, content }] of messages.entries()) {
    const before = messages[index - 1];
    if (before?.role === role) complain('roles do not take turns');
    if (content.length === 0) complain('a message is empty');
    if (content.some(({ type, text }) => type === 'text' && String(text).trim() === '')) complain('a text is empty');
    if (content.some(({ type, signature }) => type === 'thinking' && !signature))
      complain('thinking.signature: Field required');
    const calls = content.filter(({ type }) => type === 'tool_use');
    for (const { id, name, input } of calls) {
      if (!/^[a-zA-Z0-9_-]{1,128}$/.test(String(id))) complain(`tool_use.id ${id}`);
      if (!/^[a-zA-Z0-9_-]{1,128}$/.test(String(name))) complain(`tool_use.name ${name}`);
      if (typeof input !== 'object' || input === null || Array.isArray(input)) complain('tool_use.input is no object');
      if (ids.has(id)) complain('an id stands twice');
      ids.add(id);
    }
    const next = messages[index + 1]?.content ?? [];
    const results = next.filter(({ type }) => type === 'tool_result').map((block) => block.tool_use_id);
    if (JSON.stringify(results) !== JSON.stringify(calls.map(({ id }) => id)))
      complain('calls and results are not the same');
    if (next.slice(0, results.length).some(({ type }) => type !== 'tool_result')) complain('results do not come first');
  }
  checkNames(
    (body.tools as Json[] | undefined)?.map(({ name }) => name),
    /^[a-zA-Z0-9_-]{1,128}$/,
    complain,
  );
}

function checkChat(body: Json, complain: Complain): void {
  const messages = body.messages as Json[];
  let open: unknown[] = [];
  for (const { role, content, tool_calls: calls, tool_call_id: id } of messages) {
    if (role === 'tool') {
      if (!open.includes(id)) complain('a result of no call');
      if (typeof content !== 'string' || content === '') complain('a result is no text');
      open = open.filter((each) => each !== id);
      continue;
    }
    if (open.length > 0) complain('a call without result');
    const isNothing = content === null || content === '' || (Array.isArray(content) && content.length === 0);
    if (isNothing && calls === undefined) complain(`a message of ${role} is empty`);
    open = ((calls ?? []) as Json[]).map((call) => call.id);
    if (new Set(open).size !== open.length) complain('an id stands twice');
    if (open.some((each) => String(each).length > 64 || each === '')) complain('an id is too long');
  }
  if (open.length > 0) complain('a call without result');
  const names = (body.tools as { function: Json }[] | undefined)?.map((tool) => tool.function.name);
  checkNames(names, /^[a-zA-Z0-9_-]{1,64}$/, complain);
}

function checkResponses(body: Json, complain: Complain): void {
  const open = new Set<unknown>();
  for (const [index, item] of (body.input as Json[]).entries()) {
    const { type, call_id: id, role, content } = item;
    if (type === 'function_call') {
      if (open.has(id) || String(id).length > 64 || id === '') complain(`call_id ${id}`);
      open.add(id);
    } else if (type === 'function_call_output') {
      if (!open.delete(id)) complain('a result of no call');
      if (Array.isArray(item.output) && lackDetail(item.output as Block[])) complain('an image without detail');
    } else if (type === 'reasoning') {
      const next = (body.input as Json[])[index + 1];
      if (next === undefined || next.role === 'user') complain('reasoning without its following item');
    } else if (type === 'message') {
      const wanted = role === 'assistant' ? ['output_text', 'refusal'] : ['input_text', 'input_image', 'input_file'];
      const parts = content as Block[];
      if (parts.length === 0) complain('a message is empty');
      if (lackDetail(parts)) complain('an image without detail');
      if (parts.some((part) => !wanted.includes(part.type))) complain(`a part is not for ${role}`);
    } else complain(`an item of type ${type}`);
  }
  if (open.size > 0) complain('a call without result');
  checkNames(
    (body.tools as Json[] | undefined)?.map(({ name }) => name),
    /^[a-zA-Z0-9_-]{1,64}$/,
    complain,
  );
}

/** OpenAI's schema requires it, and vLLM does so too. */
function lackDetail(parts: readonly Block[]): boolean {
  return parts.some((part) => part.type === 'input_image' && !('detail' in part));
}

function checkGenerate(body: Json, complain: Complain): void {
  const contents = body.contents as { role: string; parts: Json[] }[];
  if (contents[0]?.role !== 'user') complain('the first content is not the user’s');
  if (contents.at(-1)?.role !== 'user') complain('the last content is not the user’s');
  for (const [index, { role, parts }] of contents.entries()) {
    if (contents[index - 1]?.role === role) complain('roles do not take turns');
    if (parts.length === 0) complain('a content is empty');
    if (parts.some((part) => part.text === '')) complain('a part is empty');
    const calls = parts.filter(({ functionCall }) => functionCall);
    if (calls.length > 0 && !calls[0]?.thoughtSignature) complain('missing a thought_signature');
    const responses = (contents[index + 1]?.parts ?? []).filter(({ functionResponse }) => functionResponse);
    const nameOf = (member: unknown) => (member as Json).name;
    const called = calls.map(({ functionCall }) => nameOf(functionCall));
    const answered = responses.map(({ functionResponse }) => nameOf(functionResponse));
    if (JSON.stringify(called) !== JSON.stringify(answered)) complain('calls and responses are not the same');
  }
  const [entry] = (body.tools ?? []) as { functionDeclarations: Json[] }[];
  checkNames(
    entry?.functionDeclarations.map(({ name }) => name),
    /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/,
    complain,
  );
}

function checkNames(names: unknown[] | undefined, rule: RegExp, complain: Complain): void {
  for (const name of names ?? []) if (!rule.test(String(name))) complain(`the name ${name}`);
  if (names && new Set(names).size !== names.length) complain('a name stands twice');
}
