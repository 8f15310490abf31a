/**
 * Removes the reasoning from a body of Anthropic's own API, to retry after "Invalid `signature` in `thinking` block".
 * No thinking block may remain, because each would be refused in turn, and `enabled` would require those of earlier
 * calls. Adaptive thinking stays on, because it requires none.
 */
import { isObject } from '../../../contract/is-object.ts';
import { parseLosslessJson, writeJson } from '../../neutral/json-text.ts';

/** Null if there is no reasoning to remove, so that a retry would not help. */
export function withoutThinking(body: Buffer): Buffer | null {
  const request = parseLosslessJson(body.toString());
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
  const thinkingField = isObject(thinking) && thinking.type === 'enabled' ? {} : { thinking };
  return Buffer.from(writeJson({ ...rest, ...thinkingField, messages: messages.filter(hasContent) }));
}

function isThinking(block: unknown): boolean {
  return isObject(block) && (block.type === 'thinking' || block.type === 'redacted_thinking');
}

/** False for a message that consists only of thoughts. Such a message is removed as a whole. */
function hasContent(message: unknown): boolean {
  return !isObject(message) || !Array.isArray(message.content) || message.content.length > 0;
}
