/**
 * What the demo answers. Chat completions and responses are read into one `Conversation`; fixed rules decide whether the
 * answer is text, JSON for a schema, or tool calls. Equal requests get equal answers.
 */
import { sampleOfSchema } from './schema-sample.ts';
import { countTokens } from './tokens.ts';

export interface Turn {
  role: 'system' | 'user' | 'assistant' | 'tool';
  text: string;
  /** One word for each thing sent along with the text: `image`, `sound`, `file`. */
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
}

export interface ToolCall {
  kind: 'function' | 'custom';
  name: string;
  /** JSON text for a function, free text for a custom tool. */
  input: string;
}

export type Answer = { kind: 'text'; text: string } | { kind: 'calls'; calls: readonly ToolCall[] };

const TOKENS_PER_TURN = 3;
const TOKENS_PER_ATTACHMENT = 100;
const QUOTED_CHARACTERS = 600;

export function composeAnswer(conversation: Conversation): Answer {
  const calls = toolCalls(conversation);
  if (calls.length > 0) return { kind: 'calls', calls };
  const { schema, turns } = conversation;
  return { kind: 'text', text: schema === undefined ? proseAnswer(turns) : JSON.stringify(sampleOfSchema(schema)) };
}

export function countConversationTokens({ turns, tools }: Conversation): number {
  const inTurns = turns.map(
    (turn) => countTokens(turn.text) + TOKENS_PER_TURN + TOKENS_PER_ATTACHMENT * turn.attachments.length,
  );
  const inTools = tools.map((tool) => countTokens(tool.name + JSON.stringify(tool.schema ?? '')));
  return [...inTurns, ...inTools].reduce((sum, count) => sum + count, 0);
}

export function countAnswerTokens(answer: Answer): number {
  if (answer.kind === 'text') return countTokens(answer.text);
  return answer.calls.reduce((sum, call) => sum + countTokens(call.name) + countTokens(call.input), 0);
}

/** Calls the tools that the request demands, or whose name contains a word of the latest message ("weather", `get_weather`). */
function toolCalls({ turns, tools, toolChoice, allowsParallelCalls }: Conversation): ToolCall[] {
  const latest = turns.at(-1);
  if (toolChoice.mode === 'none' || latest?.role === 'tool') return [];
  const question = latest?.text ?? '';
  const chosen = chooseTools(tools, toolChoice, question);
  const called = allowsParallelCalls ? chosen : chosen.slice(0, 1);
  return called.map((tool) => ({ kind: tool.kind, name: tool.name, input: inputFor(tool, question) }));
}

function chooseTools(tools: readonly Tool[], choice: ToolChoice, question: string): readonly Tool[] {
  if (choice.name !== undefined) return tools.filter((tool) => tool.name === choice.name);
  const words: string[] = question.toLowerCase().match(/[\p{L}\p{N}_]{4,}/gu) ?? [];
  const mentioned = tools.filter((tool) => words.some((word) => tool.name.toLowerCase().includes(word)));
  return mentioned.length === 0 && choice.mode === 'required' ? tools.slice(0, 1) : mentioned;
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
  const [asked, earlier] = turns.filter((turn) => turn.role === 'user').reverse();
  if (!asked) return ['You sent no user message.'];
  const sentences = [`You wrote: ${quote(asked.text)}`];
  if (asked.attachments.length > 0) sentences.push(`Attached: ${asked.attachments.join(', ')}.`);
  if (earlier) sentences.push(`Before that you wrote: ${quote(earlier.text)}`);
  return sentences;
}

function quote(text: string): string {
  const shown = text.length > QUOTED_CHARACTERS ? `${text.slice(0, QUOTED_CHARACTERS)}…` : text;
  return `"${shown}".`;
}
