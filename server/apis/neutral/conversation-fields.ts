/** Recognises unknown fields of a request that probably hold or name a part of the conversation. */

import { isObject } from '../../contract/is-object.ts';
import { boundedPattern } from '../../ground/bounded-pattern.ts';

/**
 * A conversation stored elsewhere, an answer that the request continues, or messages besides the known list. Not ids of sessions
 * or users, which many clients send so that requests can be told apart.
 */
const names = boundedPattern(
  /^(?:(?:message_?)?thread(?:_?id)?|conversation(?:_?id)?|(?:previous|prior|parent|continue[ds]?|resume[ds]?)_?(?:\w{1,40}_?)?(?:id|messages?|turns?|response|interaction|from)|(?:chat_?|message_?|conversation_?)?history|cached_?contents?|assistant_?id)$/i,
);

/** Without it, the model would answer as if there were no conversation, so it must not be dropped. */
export function carriesConversation(name: string, value: unknown): boolean {
  const saysSomething =
    (typeof value === 'string' && value !== '') ||
    (Array.isArray(value) && value.length > 0) ||
    (isObject(value) && Object.keys(value).length > 0);
  return saysSomething && names.test(name);
}
