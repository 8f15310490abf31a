import type { RequestSession } from '../../../contract/ledger.ts';
import { type Member, membersOfBeginning, membersOfEnd } from '../../json/fragment-members.ts';
import { JsonNames } from '../../json/json-names.ts';
import { peekJson } from '../../json/json-peek.ts';
import { lastElement, shortText } from '../../json/last-element.ts';
import type { RawField, RequestView } from '../wire.ts';

/** Of the APIs of OpenAI and Anthropic, of OpenAI's Responses, of Gemini. */
export const turnFields = ['messages', 'input', 'contents'] as const;

export type TurnField = (typeof turnFields)[number];

export interface Turns extends RawField {
  /** Whose a message is that does not say so; null if each has to. */
  defaultRole: 'user' | null;
}

/**
 * Where a request has its conversation, and whose a message of it is. Pure.
 *
 * The messages of a conversation, or a text in their place; null if the request has neither.
 */
export function turnsIn(body: RequestView<TurnField>): Turns | null {
  const messages = body.raw('messages') ?? body.raw('input');
  if (messages) return { ...messages, defaultRole: null };
  const contents = body.raw('contents');
  // Google, "Content": the role is optional, and the user's by default.
  return contents && { ...contents, defaultRole: 'user' };
}

/** What a request of Responses adds to its conversation. */
export function inputOf(body: RequestView<'input'>): RawField | null {
  return body.raw('input');
}

/** Of a longer last message, such as one with a picture, only the ends are examined. */
const maxBytes = 256 * 1024;
/** How many texts, brackets and commas of the last message are passed on the way to its beginning. */
const maxSteps = 256 * 1024;
/** Marks are near the beginning of a part; a part of at least this length is text or an image. */
const markedBytes = 64 * 1024;
const quote = 0x22;
const names = new JsonNames(['role', 'type']);
/** Anthropic, Gemini (in both spellings that it accepts), Converse. A quote within a text is escaped, so no text looks like these. */
const resultMark = /"(?:tool_result|functionResponse|function_response|toolResult)"/;

/** Whether the conversation ends with a person's message or with tool results. */
export function turnStepOf(body: RequestView<TurnField>): RequestSession['step'] {
  const turns = turnsIn(body);
  if (!turns) return null;
  const { bytes: messages, defaultRole } = turns;
  if (messages[0] === quote) return 'prompt';
  const last = lastElement(messages, { maxSteps });
  if (!last) return null;
  const message = messages.subarray(last.start, last.end);
  const marks = marksOf(message);
  if (!marks) return null;
  const role = marks.role ?? defaultRole;
  // OpenAI's Responses: `function_call_output`, `custom_tool_call_output`, `local_shell_call_output` …
  if (role === 'tool' || role === 'function' || marks.type?.endsWith('_output')) return 'tools';
  const beginning = message.subarray(0, markedBytes);
  // If a program writes members by name, those of a long result come after its content.
  const ends = message.length > maxBytes ? [beginning, message.subarray(-markedBytes)] : [beginning];
  if (ends.some((bytes) => resultMark.test(bytes.toString('latin1')))) return 'tools';
  return role === 'user' ? 'prompt' : null;
}

/** Undefined for a member that the message does not have. */
interface Marks {
  role: string | null | undefined;
  type: string | null | undefined;
}

/** Null if it is no message. */
function marksOf(message: Buffer): Marks | null {
  if (message.length > maxBytes) return { role: textAtEnds(message, 'role'), type: textAtEnds(message, 'type') };
  const peek = peekJson(message, names);
  if (!peek.ok) return null;
  const [role, type] = [peek.fields.get('role'), peek.fields.get('type')];
  return { role: role && shortText(message, role), type: type && shortText(message, type) };
}

function textAtEnds(message: Buffer, name: string): string | null | undefined {
  const beginning = message.subarray(0, markedBytes);
  const end = message.subarray(-markedBytes);
  return textIn(beginning, membersOfBeginning(beginning, name)) ?? textIn(end, membersOfEnd(end, name));
}

function textIn(bytes: Buffer, members: readonly Member[]): string | null | undefined {
  const member = members.findLast(({ level }) => level === 1);
  if (!member) return undefined;
  return shortText(bytes, { start: member.start, end: bytes.indexOf(quote, member.start + 1) + 1 });
}
