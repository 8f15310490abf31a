/**
 * Reports the formal errors for which Bedrock's Converse API refuses a request. Sources: Amazon Bedrock API reference,
 * "Converse", `ToolUseBlock`, `DocumentBlock`; browser-use/browser-use#710; vxcontrol/pentagi#196.
 */
import type { Json } from './translating.ts';

type Complain = (text: string) => void;

interface Block extends Json {
  toolUse?: Json;
  toolResult?: { toolUseId: string; content: Block[] };
  document?: { name: string };
  text?: string;
}
interface Message {
  role: string;
  content: Block[];
}

const fields = ['messages', 'system', 'inferenceConfig', 'toolConfig', 'outputConfig', 'additionalModelRequestFields'];
const kinds = ['text', 'image', 'document', 'video', 'toolUse', 'toolResult', 'reasoningContent', 'cachePoint'];

export function checkConverse(body: Json, complain: Complain): void {
  for (const name of Object.keys(body)) if (!fields.includes(name)) complain(`the field ${name}`);
  const messages = body.messages as Message[];
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

function checkMessage({ role, content }: Message, complain: Complain): void {
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

function checkDocument({ name }: { name: string }, content: readonly Block[], complain: Complain): void {
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
