/**
 * Anthropic's own body without its reasoning, for the one time that it is asked again after "Invalid `signature` in
 * `thinking` block": no thinking block may be left, for they are refused one by one, and `enabled` would ask for those of
 * earlier calls. Adaptive thinking stays on, since it does without.
 */
import { isObject } from '../../contract/is-object.ts';
import { parseJson, writeJson } from '../json-text.ts';

/** Null where there is nothing to leave out, so that asking again would be no use. */
export function withoutThinking(body: Buffer): Buffer | null {
  const request = parseJson(body.toString());
  if (!isObject(request) || !Array.isArray(request.messages)) return null;
  let isLeftOut = false;
  const messages = request.messages.map((message: unknown) => {
    if (!isObject(message) || !Array.isArray(message.content)) return message;
    const content = message.content.filter((block: unknown) => !isThinking(block));
    if (content.length === message.content.length) return message;
    isLeftOut = true;
    return { ...message, content };
  });
  if (!isLeftOut) return null;
  const { thinking, ...rest } = request;
  const kept = isObject(thinking) && thinking.type === 'enabled' ? {} : { thinking };
  return Buffer.from(writeJson({ ...rest, ...kept, messages: messages.filter(saysSomething) }));
}

function isThinking(block: unknown): boolean {
  return isObject(block) && (block.type === 'thinking' || block.type === 'redacted_thinking');
}

/** A message of thoughts alone is gone with them. */
function saysSomething(message: unknown): boolean {
  return !isObject(message) || !Array.isArray(message.content) || message.content.length > 0;
}
