import { hash } from 'node:crypto';
import type { RequestView } from '../wire.ts';

/**
 * What stays the same from turn to turn of a conversation: the client's own name for it, else how it begins. Null for a
 * request that is no part of one.
 */
export function conversationOf(body: RequestView): string | null {
  const own = body.field('prompt_cache_key');
  if (typeof own === 'string' && own !== '') return own;
  const messages = body.field('messages') ?? body.field('input');
  if (typeof messages === 'string') return hash('sha256', messages);
  if (!Array.isArray(messages) || messages.length === 0) return null;
  const opening = messages.slice(0, 1 + messages.findIndex((message) => message?.role === 'user'));
  return hash('sha256', JSON.stringify([body.field('instructions'), opening.length > 0 ? opening : messages[0]]));
}
