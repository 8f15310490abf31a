/**
 * Reports the formal errors for which each service refuses a request. Sources: the services' API references, and error
 * messages in public reports about other gateways.
 */

import type { UpstreamWireName } from '../../../../server/apis/neutral/conversation.ts';
import { isObject } from '../../../../server/contract/is-object.ts';
import { checkConverse } from './strict-converse-form.ts';
import { checkToolSchema } from './strict-tool-schemas.ts';
import type { Json } from './translating.ts';

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
