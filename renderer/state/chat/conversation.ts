/** A conversation in the chat panel, in the forms in which it is shown and sent. Pure. */
import type { Failure } from '../calls/exchange.ts';
import { listAt, numberAt, textAt } from '../calls/json-path.ts';

interface ToolCall {
  id: string;
  name: string;
  /** JSON, as the model wrote it. */
  arguments: string;
}

export interface Turn {
  /** Position in the conversation. */
  id: number;
  role: 'user' | 'assistant' | 'tool';
  text: string;
  /** Data URL of the user's image. */
  image: string | null;
  /** The image was too large to be kept when the window was reloaded. */
  lostImage: boolean;
  /** The assistant's tool calls. */
  toolCalls: readonly ToolCall[];
  /** For a tool's turn, the call that it answers; null if it answers all calls of the previous turn. */
  callId: string | null;
  /** The answering model; null for the person's turns. */
  model: string | null;
  /** Sluice's id of the request behind this answer; null until its headers have arrived. */
  requestId: string | null;
  /** Why the answer is incomplete; null if it is complete or still arriving. */
  failure: Failure | null;
}

/** Adds the person's input. After tool calls it counts as their result. */
export function withUserInput(turns: readonly Turn[], text: string, image: string | null): Turn[] {
  const isResult = (turns.at(-1)?.toolCalls.length ?? 0) > 0;
  return [...turns, { ...emptyTurn, id: turns.length, role: isResult ? 'tool' : 'user', text, image }];
}

/**
 * The conversation up to a turn of the person, which says something else instead.
 * @param version its image is that of the old version if null
 */
export function withNewVersion(
  turns: readonly Turn[],
  index: number,
  { text, image }: Pick<Turn, 'text' | 'image'>,
): Turn[] {
  const old = turns[index];
  if (!old) return [...turns];
  return [...turns.slice(0, index), { ...old, text, image: image ?? old.image, lostImage: old.lostImage && !image }];
}

/**
 * Where a conversation has a message that another one has at `index`; -1 if it does not have it, because it began later or went
 * another way.
 */
export function findMessage(turns: readonly Turn[], message: Turn, index: number): number {
  const isIt = (turn: Turn | undefined) => turn?.role === message.role && turn.text === message.text;
  return isIt(turns[index]) ? index : turns.findLastIndex(isIt);
}

/** Whether an answer has no word and no tool call. */
export function isWordless({ text, toolCalls }: Turn): boolean {
  return text === '' && toolCalls.length === 0;
}

/** The answer before its first word. */
export function beginAnswer(turns: readonly Turn[], model: string): Turn {
  return { ...emptyTurn, id: turns.length, role: 'assistant', model };
}

export const emptyTurn = {
  text: '',
  image: null,
  lostImage: false,
  toolCalls: [],
  callId: null,
  model: null,
  requestId: null,
  failure: null,
} as const;

/** Adds a chunk of the stream to the answer. */
export function withChunk(answer: Turn, chunk: unknown): Turn {
  const text = answer.text + (textAt(chunk, 'choices', 0, 'delta', 'content') ?? '');
  const fragments = listAt(chunk, 'choices', 0, 'delta', 'tool_calls');
  return { ...answer, text, toolCalls: fragments.reduce(withToolPiece, answer.toolCalls) };
}

function withToolPiece(calls: readonly ToolCall[], fragment: unknown): readonly ToolCall[] {
  const index = numberAt(fragment, 'index') ?? 0;
  const old = calls[index] ?? { id: '', name: '', arguments: '' };
  const call = {
    id: textAt(fragment, 'id') ?? old.id,
    name: old.name + (textAt(fragment, 'function', 'name') ?? ''),
    arguments: old.arguments + (textAt(fragment, 'function', 'arguments') ?? ''),
  };
  return index < calls.length ? calls.with(index, call) : [...calls, call];
}

/** The messages of the request. */
export function toMessages(system: string, turns: readonly Turn[]): object[] {
  const messages = turns.flatMap((turn, index) => toMessage(turn, turns[index - 1]));
  return system.trim() ? [{ role: 'system', content: system }, ...messages] : messages;
}

function toMessage(turn: Turn, previous: Turn | undefined): object[] {
  if (turn.role === 'tool' && turn.callId !== null) {
    return [{ role: 'tool', tool_call_id: turn.callId, content: turn.text }];
  }
  if (turn.role === 'tool') {
    return (previous?.toolCalls ?? []).map(({ id }) => ({ role: 'tool', tool_call_id: id, content: turn.text }));
  }
  if (turn.role === 'user') return [{ role: 'user', content: userContent(turn) }];
  // The answer failed before its first word.
  if (isWordless(turn)) return [];
  const calls = turn.toolCalls.map(({ id, ...calledFunction }) => ({ id, type: 'function', function: calledFunction }));
  return [{ role: 'assistant', content: turn.text || null, ...(calls.length > 0 && { tool_calls: calls }) }];
}

function userContent({ text, image }: Turn): string | object[] {
  if (!image) return text;
  return [
    { type: 'text', text },
    { type: 'image_url', image_url: { url: image } },
  ];
}
