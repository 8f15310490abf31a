import { parseObject } from '../json/parse-object.ts';

const olderMark = '_session_';
/** Claude Code's values are shorter, in characters. */
const maxLength = 2000;

/**
 * Extracts the session id from Claude Code's `metadata.user_id`: JSON with a `session_id`, or, before 2.1.78,
 * `user_…_account_…_session_…`. Undefined for other clients, whose `user_id` identifies a user with many conversations.
 */
export function sessionOf(userId: unknown): string | undefined {
  if (typeof userId !== 'string' || userId.length > maxLength) return undefined;
  if (userId.startsWith('{')) {
    const session = parseObject(userId)?.session_id;
    return typeof session === 'string' && session !== '' ? session : undefined;
  }
  const at = userId.startsWith('user_') ? userId.lastIndexOf(olderMark) : -1;
  return at === -1 ? undefined : userId.slice(at + olderMark.length) || undefined;
}
