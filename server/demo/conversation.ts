/**
 * Composes the demo's answers. Chat completions and responses are converted to one `Conversation`; fixed rules decide
 * whether the answer is text, JSON for a schema, or tool calls. Equal requests get equal answers.
 */

import { isObject } from '../contract/is-object.ts';
import { anyObject, schemaInPrompt } from './schema-in-prompt.ts';
import { sampleOfSchema } from './schema-sample.ts';
import { countTokens } from './tokens.ts';

export interface Turn {
  role: 'system' | 'user' | 'assistant' | 'tool';
  text: string;
  /** One word for each attachment of the text: `image`, `sound`, `file`. */
  attachments: readonly string[];
}

export interface Tool {
  kind: 'function' | 'custom';
  name: string;
  /** The JSON schema of a function's arguments. */
  schema: unknown;
}

/** `required` with a name: that tool and no other. */
export interface ToolChoice {
  mode: 'none' | 'auto' | 'required';
  name?: string;
}

export interface Conversation {
  turns: readonly Turn[];
  tools: readonly Tool[];
  toolChoice: ToolChoice;
  allowsParallelCalls: boolean;
  /** The JSON schema that the answer must satisfy; `undefined` for an answer in prose. */
  schema: unknown;
  /** Whether the client requested reasoning. */
  thinks: boolean;
}

export interface ToolCall {
  kind: 'function' | 'custom';
  name: string;
  /** JSON text for a function, free text for a custom tool. */
  input: string;
}

export type Answer = ({ kind: 'text'; text: string } | { kind: 'calls'; calls: readonly ToolCall[] }) & {
  /** Undefined if the client did not request it. */
  reasoning?: string;
};

const invented = 'The demo has no model that could think, so this stands for its reasoning.';

const TOKENS_PER_TURN = 3;
const TOKENS_PER_ATTACHMENT = 100;

export function composeAnswer(conversation: Conversation): Answer {
  const calls = toolCalls(conversation);
  const reasoning = conversation.thinks ? { reasoning: invented } : {};
  if (calls.length > 0) return { kind: 'calls', calls, ...reasoning };
  const { turns } = conversation;
  const schema = conversation.schema === anyObject ? (schemaInPrompt(turns) ?? anyObject) : conversation.schema;
  return {
    ...reasoning,
    kind: 'text',
    text: schema === undefined ? proseAnswer(turns) : JSON.stringify(sampleOfSchema(schema)),
  };
}

export function countConversationTokens({ turns, tools }: Conversation): number {
  const inTurns = turns.map(
    (turn) => countTokens(turn.text) + TOKENS_PER_TURN + TOKENS_PER_ATTACHMENT * turn.attachments.length,
  );
  const inTools = tools.map((tool) => countTokens(tool.name + JSON.stringify(tool.schema ?? '')));
  return [...inTurns, ...inTools].reduce((sum, count) => sum + count, 0);
}

export function countAnswerTokens(answer: Answer): number {
  return countTokens(answer.reasoning ?? '') + countShownTokens(answer);
}

function countShownTokens(answer: Answer): number {
  if (answer.kind === 'text') return countTokens(answer.text);
  return answer.calls.reduce((sum, call) => sum + countTokens(call.name) + countTokens(call.input), 0);
}

/**
 * Calls the tools that the request demands, or whose name contains a word of the latest message ("weather",
 * `get_weather`). Tools by which an agent would change files or run commands are called only on demand.
 */
function toolCalls({ turns, tools, toolChoice, allowsParallelCalls }: Conversation): ToolCall[] {
  const latest = turns.at(-1);
  if (toolChoice.mode === 'none' || latest?.role === 'tool') return [];
  const question = latest?.text ?? '';
  const chosen = chooseTools(tools, toolChoice, question);
  const calledTools = allowsParallelCalls ? chosen : chosen.slice(0, 1);
  return calledTools.map((tool) => ({ kind: tool.kind, name: tool.name, input: inputFor(tool, question) }));
}

function chooseTools(tools: readonly Tool[], choice: ToolChoice, question: string): readonly Tool[] {
  if (choice.name !== undefined) return tools.filter((tool) => tool.name === choice.name);
  const words: string[] = question.toLowerCase().match(/[\p{L}\p{N}_]{4,}/gu) ?? [];
  const mentioned = tools.filter((tool) => words.some((word) => tool.name.toLowerCase().includes(word)));
  if (choice.mode !== 'required') return mentioned.filter((tool) => !mayChangeSomething(tool));
  return mentioned.length === 0 ? tools.slice(0, 1) : mentioned;
}

/**
 * Judged by the names of its parameters: Claude Code's `Write` has `file_path` and `content`, Codex's shell a
 * `command`.
 */
function mayChangeSomething({ schema }: Tool): boolean {
  const properties = isObject(schema) && isObject(schema.properties) ? Object.keys(schema.properties) : [];
  return properties.some((name) => /path|file|dir|command|cmd|script|code|patch|edit|content|url/i.test(name));
}

function inputFor(tool: Tool, question: string): string {
  return tool.kind === 'custom' ? question : JSON.stringify(sampleOfSchema(tool.schema ?? { type: 'object' }));
}

/**
 * One short text, without anything that a coding agent could interpret as an edit, a path or a command: aider once
 * wrote a file from an answer that repeated its prompt.
 */
function proseAnswer(turns: readonly Turn[]): string {
  const sentences = ["This is Sluice's built-in demo provider: no language model is behind it."];
  const latest = turns.at(-1);
  if (latest?.role === 'tool') sentences.push(`The tool answered${quoted(latest.text)}.`);
  else sentences.push(...answerToUser(turns.filter(({ role }) => role === 'user').reverse()));
  sentences.push('To get real answers, add a provider in Sluice.');
  return sentences.join(' ');
}

function answerToUser([latest, earlier]: readonly Turn[]): string[] {
  if (!latest) return ['You sent no user message.'];
  const sentences = [`You wrote${quoted(latest.text)}.`];
  if (latest.attachments.length > 0) sentences.push(`Attached: ${latest.attachments.join(', ')}.`);
  if (earlier) sentences.push(`Before that you wrote${quoted(earlier.text)}.`);
  return sentences;
}

const maxQuotedWords = 8;
const plainWord = /^[\p{L}\p{N}][\p{L}\p{N}'’-]{0,30}[,.;:!?]?$/u;

/** The first plain words of the last line. */
function quoted(text: string): string {
  const line = text.trimEnd().split('\n').at(-1) ?? '';
  const words = line
    .slice(0, 1_000)
    .split(/\s+/)
    .filter((word) => plainWord.test(word));
  const quote = words.slice(0, maxQuotedWords).join(' ');
  if (quote === '') return ' something';
  return `: "${quote}${words.length > maxQuotedWords ? ' …' : ''}"`;
}
