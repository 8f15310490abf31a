/**
 * What the demo says. Chat completions and responses are read into one `Conversation`; this file decides, by plain rules and
 * deterministically, whether the answer is text, JSON for a schema, or tool calls.
 */
import { isObject } from '../contract/is-object.ts';
import { invalidValue, unsupportedParameter } from './demo-error.ts';
import { sampleOfSchema } from './schema-sample.ts';
import { countTokens } from './tokens.ts';

export interface Turn {
  role: 'system' | 'user' | 'assistant' | 'tool';
  text: string;
  /** What came with the text: `image`, `audio`, `file`, one word for each. */
  attachments: readonly string[];
}

export interface Tool {
  kind: 'function' | 'custom';
  name: string;
  /** The JSON schema of a function's arguments. */
  schema: unknown;
}

/** `required` with a name: that tool and no other. */
interface ToolChoice {
  mode: 'none' | 'auto' | 'required';
  name?: string;
}

type AnswerFormat = { kind: 'text' } | { kind: 'json'; schema: unknown };

export interface Conversation {
  turns: readonly Turn[];
  tools: readonly Tool[];
  toolChoice: ToolChoice;
  allowsParallelCalls: boolean;
  format: AnswerFormat;
}

export interface ToolCall {
  kind: 'function' | 'custom';
  name: string;
  /** JSON text for a function, free text for a custom tool. */
  input: string;
}

export type Answer = { kind: 'text'; text: string } | { kind: 'calls'; calls: readonly ToolCall[] };

/** Tokens of a message beyond its text, and of anything attached to it. */
const TOKENS_PER_TURN = 3;
const TOKENS_PER_ATTACHMENT = 100;
const QUOTED_CHARACTERS = 600;

export function composeAnswer(conversation: Conversation): Answer {
  const calls = toolCalls(conversation);
  if (calls.length > 0) return { kind: 'calls', calls };
  if (conversation.format.kind === 'json') {
    return { kind: 'text', text: JSON.stringify(sampleOfSchema(conversation.format.schema)) };
  }
  return { kind: 'text', text: proseAnswer(conversation.turns) };
}

export function countConversationTokens(conversation: Conversation): number {
  const inTurns = conversation.turns.map(
    (turn) => countTokens(turn.text) + TOKENS_PER_TURN + TOKENS_PER_ATTACHMENT * turn.attachments.length,
  );
  const inTools = conversation.tools.map((tool) => countTokens(tool.name + JSON.stringify(tool.schema ?? '')));
  return [...inTurns, ...inTools].reduce((sum, count) => sum + count, 0);
}

export function countAnswerTokens(answer: Answer): number {
  if (answer.kind === 'text') return countTokens(answer.text);
  return answer.calls.reduce((sum, call) => sum + countTokens(call.name) + countTokens(call.input), 0);
}

/** Reads `tool_choice` in the form of either API; a named tool may stand below `function` or beside `type`. */
export function readToolChoice(value: unknown): ToolChoice {
  if (value === undefined || value === 'auto') return { mode: 'auto' };
  if (value === 'none' || value === 'required') return { mode: value };
  if (isObject(value)) {
    const [definition = value] = [value.function, value.custom, value.allowed_tools].filter(isObject);
    if (value.type === 'function' || value.type === 'custom')
      return { mode: 'required', name: String(definition.name) };
    if (value.type === 'allowed_tools') return { mode: definition.mode === 'required' ? 'required' : 'auto' };
  }
  throw invalidValue('tool_choice', 'use none, auto, required, or an object that names a tool');
}

/** Reads `response_format.json_schema` or `text.format`, where the schema is in different places. */
export function readFormat(type: unknown, schema: unknown, param: string): AnswerFormat {
  if (type === undefined || type === 'text') return { kind: 'text' };
  if (type === 'json_object') return { kind: 'json', schema: jsonObjectSchema };
  if (type === 'json_schema') return { kind: 'json', schema };
  throw unsupportedParameter(`${param}.type`, 'The demo provider supports text, json_object and json_schema.');
}

const jsonObjectSchema = {
  type: 'object',
  properties: {
    message: { const: "This is Sluice's demo provider; it answers any request for JSON with this object." },
  },
};

/**
 * Tools are called when they must be, and when the user's latest message asks: it bears a word of the tool's name
 * ("weather" for `get_weather`), or speaks of tools at all. After a tool's result the answer is text.
 */
function toolCalls({ turns, tools, toolChoice, allowsParallelCalls }: Conversation): ToolCall[] {
  const latest = turns.at(-1);
  if (tools.length === 0 || toolChoice.mode === 'none' || latest?.role === 'tool') return [];
  const question = latest?.text ?? '';
  const chosen = chooseTools(tools, toolChoice, question);
  const called = allowsParallelCalls ? chosen : chosen.slice(0, 1);
  return called.map((tool) => ({ kind: tool.kind, name: tool.name, input: inputFor(tool, question) }));
}

function chooseTools(tools: readonly Tool[], choice: ToolChoice, question: string): readonly Tool[] {
  if (choice.name !== undefined) {
    const named = tools.filter((tool) => tool.name === choice.name);
    if (named.length === 0) throw invalidValue('tool_choice', `there is no tool '${choice.name}' in 'tools'`);
    return named.slice(0, 1);
  }
  const mentioned = tools.filter((tool) => mentions(question, tool.name));
  if (mentioned.length > 0) return mentioned;
  const isAsked = choice.mode === 'required' || /\b(tool|function)s?\b/i.test(question);
  return isAsked ? tools.slice(0, 1) : [];
}

function mentions(question: string, toolName: string): boolean {
  const asked = new Set(question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
  const words = toolName.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? [];
  return question.includes(toolName) || words.some((word) => asked.has(word));
}

function inputFor(tool: Tool, question: string): string {
  return tool.kind === 'custom' ? question : JSON.stringify(sampleOfSchema(tool.schema ?? { type: 'object' }));
}

function proseAnswer(turns: readonly Turn[]): string {
  const latest = turns.at(-1);
  const sentences = ["This is Sluice's built-in demo provider: no language model is behind it."];
  if (latest?.role === 'tool') sentences.push(`The tool answered: ${quote(latest.text)}`);
  else sentences.push(...answerToUser(turns));
  sentences.push(
    'To get real answers, add a provider: in the window under Providers, or with the command "sluice provider add".',
  );
  return sentences.join(' ');
}

function answerToUser(turns: readonly Turn[]): string[] {
  const [asked, ...earlier] = turns.filter((turn) => turn.role === 'user').reverse();
  if (!asked) return ['You sent no message of a user.'];
  const sentences = [`You wrote: ${quote(asked.text)}`];
  if (asked.attachments.length > 0) sentences.push(`With it came: ${asked.attachments.join(', ')}.`);
  if (earlier[0]) sentences.push(`Before that you wrote: ${quote(earlier[0].text)}`);
  return sentences;
}

function quote(text: string): string {
  const shown = text.length > QUOTED_CHARACTERS ? `${text.slice(0, QUOTED_CHARACTERS)}…` : text;
  return `"${shown}".`;
}
