import { parseObject } from '../json/parse-object.ts';

const olderMark = '_session_';
/** Longer ones are none of Claude Code's. */
const maxLength = 2000;

/**
 * The session in what Claude Code puts into `metadata.user_id`: JSON text with a `session_id`, or, before 2.1.78,
 * `user_…_account_…_session_…`. Undefined for other clients, whose `user_id` is a user with many conversations.
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
