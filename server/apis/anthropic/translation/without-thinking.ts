/**
 * Removes the reasoning from a body of Anthropic's own API, to retry after "Invalid `signature` in `thinking` block".
 * No thinking block may remain, because each would be refused in turn, and `enabled` would require those of earlier
 * calls. Adaptive thinking stays on, because it requires none.
 */
import { isObject } from '../../../contract/is-object.ts';
import { JsonNames } from '../../json/json-names.ts';
import { elementsAfter } from '../../json/json-nodes.ts';
import { type JsonEdit, peekJson } from '../../json/json-peek.ts';
import type { ByteRange } from '../../json/json-scan.ts';
import { parseLosslessJson, writeJson } from '../../neutral/json-text.ts';
import type { Losses } from '../../neutral/losses.ts';

const names = new JsonNames(['thinking']);
const budget = Buffer.from('"budget_tokens"');
const call = Buffer.from('"tool_use"');

/**
 * Switches thinking off if the calls that the model goes on from have lost theirs: with a budget of thinking, "a final
 * `assistant` message must start with a thinking block" (Anthropic, "Extended thinking", on toggling it within a loop of
 * calls).
 */
export function withoutBudget(body: Buffer, reduced: readonly ByteRange[], losses: Losses): JsonEdit[] {
  const last = reduced.at(-1);
  if (!last || isFarFromEnd(body, last) || !body.subarray(last.start, last.end).includes(call)) return [];
  if (!body.includes(budget)) return [];
  const peek = peekJson(body, names);
  const thinking = peek.ok ? peek.fields.get('thinking') : undefined;
  if (!thinking) return [];
  losses.emulated('thinking', 'reasoning-off');
  return [{ start: thinking.start, end: thinking.end, text: '{"type":"disabled"}' }];
}

/** Whether more follows than the results of the message's calls. */
function isFarFromEnd(body: Buffer, { end }: ByteRange): boolean {
  const after = elementsAfter(body, end);
  return !after.next().done && !after.next().done;
}

/**
 * Null if there is no reasoning to remove, so that a retry would not help. Calls of a model that does not think are refused
 * for their lack of thoughts, so that it is enough not to ask for any.
 */
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
  const { thinking, ...rest } = request;
  const isEnabled = isObject(thinking) && thinking.type === 'enabled';
  if (!isLeftOut && !isEnabled) return null;
  const thinkingField = isEnabled ? {} : { thinking };
  return Buffer.from(writeJson({ ...rest, ...thinkingField, messages: messages.filter(hasContent) }));
}

function isThinking(block: unknown): boolean {
  return isObject(block) && (block.type === 'thinking' || block.type === 'redacted_thinking');
}

/** False for a message that consists only of thoughts. Such a message is removed as a whole. */
function hasContent(message: unknown): boolean {
  return !isObject(message) || !Array.isArray(message.content) || message.content.length > 0;
}
