import { createHash } from 'node:crypto';
import { beginningOfList } from '../../json/json-elements.ts';
import { JsonNames } from '../../json/json-names.ts';
import { fieldValue, peekJson } from '../../json/json-peek.ts';
import type { RequestView } from '../wire.ts';
import { type Turns, turnFields, turnsIn } from './turns.ts';

/** The fields that tell one conversation from another. */
export const conversationFields = [
  ...turnFields,
  'prompt_cache_key',
  'instructions',
  'systemInstruction',
  'system_instruction',
] as const;

type ConversationField = (typeof conversationFields)[number];

/** How much of a conversation and of its instructions is examined; the beginning stays the same as it grows. */
const maxBytes = 256 * 1024;
const roleName = new JsonNames(['role']);
const openingBracket = 0x5b;
const openingBrace = 0x7b;
const quote = 0x22;

/**
 * A value that stays the same for all turns of a conversation: the client's own identifier, otherwise its beginning. Null
 * for a request that belongs to none.
 */
export function conversationOf(body: RequestView<ConversationField>): string | null {
  const own = body.field('prompt_cache_key');
  return typeof own === 'string' && own !== '' ? own : openingDigest(body);
}

/** A digest of the beginning of a conversation, up to the first message of the user. Null for a request that has none. */
export function openingDigest(body: RequestView<ConversationField>): string | null {
  const turns = turnsIn(body);
  const opening = turns && (turns.bytes[0] === quote ? turns.bytes.subarray(0, maxBytes) : openingOf(turns));
  if (!opening) return null;
  const field = body.raw('instructions') ?? body.raw('systemInstruction') ?? body.raw('system_instruction');
  const instructions = field?.bytes.subarray(0, maxBytes) ?? '';
  return createHash('sha256').update(instructions).update('\n').update(opening).digest('hex');
}

/** Everything up to the first user message; without one, the first message. Null if it is not a list with any. */
function openingOf({ bytes: messages, defaultRole }: Turns): Buffer | null {
  if (messages[0] !== openingBracket) return null;
  let first: number | undefined;
  for (const { start, end } of beginningOfList(messages, maxBytes)) {
    first ??= end;
    if (messages[start] === openingBrace && isOfUser(messages.subarray(start, end), defaultRole))
      return messages.subarray(1, end);
  }
  if (messages.length > maxBytes) return messages.subarray(1, maxBytes);
  return first === undefined ? null : messages.subarray(1, first);
}

function isOfUser(message: Buffer, defaultRole: Turns['defaultRole']): boolean {
  const peek = peekJson(message, roleName);
  const role = peek.ok ? peek.fields.get('role') : undefined;
  if (peek.ok && role === undefined) return defaultRole === 'user';
  return role !== undefined && role.end - role.start < 100 && isUser(message, role);
}

function isUser(message: Buffer, role: { start: number; end: number }): boolean {
  try {
    return fieldValue(message, role) === 'user';
  } catch {
    return false;
  }
}
