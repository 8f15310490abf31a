/** `POST /v1/messages` in the neutral form and out of it. */

import { isObject } from '../../../contract/is-object.ts';
import { boundedPattern } from '../../../ground/bounded-pattern.ts';
import { JsonNames } from '../../json/json-names.ts';
import { elementsAfter } from '../../json/json-nodes.ts';
import { type JsonEdit, peekJson } from '../../json/json-peek.ts';
import type { ByteRange } from '../../json/json-scan.ts';
import type { WireTranslation } from '../../neutral/answers/wire-translation.ts';
import { parseLosslessJson, writeJson } from '../../neutral/json-text.ts';
import type { Loss, Losses } from '../../neutral/losses.ts';
import { anthropicErrorStatus, writeAnthropicError } from '../messages.ts';
import { MessagesEventParser, messageEvents } from './parse-events.ts';
import { messagesClient, parseMessagesRequest } from './parse-request.ts';
import { MessagesEventRenderer, renderMessagesAnswer } from './render-events.ts';
import { renderMessagesRequest } from './render-request.ts';

/**
 * Betas that cause no loss of their own, without their dates. As of 2026-11-22; sources: Claude docs, "Beta headers";
 * Claude Code docs, "Gateway protocol reference".
 */
const idle = [
  // These identify the client or its account.
  'claude-code',
  'cli-internal',
  'oauth',
  'user-profiles',
  // The fields, tools and files of these are translated or reported themselves.
  'adaptive-thinking',
  'advanced-tool-use',
  'advisor-tool',
  'code-execution',
  'compact',
  'computer-use',
  'context-management',
  'effort',
  'fallbacks',
  'fast-mode',
  'files-api',
  'inline-tools',
  'mcp-client',
  'mid-conversation-output-config',
  'mid-conversation-system',
  'message-threads',
  'mid-conversation-tool-changes',
  'per-turn-control',
  'search-results',
  'skills',
  'structured-outputs',
  'task-budgets',
  'thinking-binding-controls',
  'thinking-display-updates',
  'tool-examples',
  'tool-search-tool',
  'web-fetch',
  'web-search',
  // These concern features that only Anthropic has: its caches, limits and error classes, and how its events are split.
  'cache-diagnosis',
  'context-1m',
  'dev-full-thinking',
  'extended-cache-ttl',
  'fine-grained-tool-streaming',
  'interleaved-thinking',
  'max-tokens-3-5-sonnet',
  'message-batches',
  'model-context-window-exceeded',
  'output-128k',
  'pdfs',
  'prompt-caching',
  'prompt-caching-scope',
  'redact-thinking',
  'thinking-token-count',
  'token-counting',
  'token-efficient-tools',
];

/** Two formats: `claude-code-20250219`, `oauth-2025-04-20`. */
const date = boundedPattern(/-\d{4}-?\d{2}-?\d{2}$/);

/**
 * Betas of Anthropic's API, requested in `anthropic-beta`, that a translation does not pass on.
 *
 * The betas in a client's header that may change the answer but have no meaning in another API. Includes unknown ones.
 * @param header comma-separated, as SDKs send it
 */
export function droppedBetas(header: string | undefined): Loss[] {
  if (header === undefined) return [];
  const requested = new Set(header.split(',').map((beta) => beta.trim()));
  return [...requested]
    .filter((beta) => beta !== '' && !idle.includes(beta.slice(0, date.exec(beta)?.index)))
    .map((beta): Loss => ({ fate: 'dropped', field: `anthropic-beta:${beta}`, code: 'no-equal' }));
}

/** `POST /v1/messages` of Anthropic's API. */
export const anthropicMessages: WireTranslation = {
  client: messagesClient,
  trial: {
    path: '/messages',
    body: ({ model, prompt, maxOutputTokens }) => ({
      model,
      messages: [{ role: 'user', content: prompt }],
      max_tokens: maxOutputTokens,
    }),
    answerMember: 'content',
  },
  parseRequest: parseMessagesRequest,
  renderRequest: renderMessagesRequest,
  wholeEvents: messageEvents,
  renderAnswer: renderMessagesAnswer,
  renderError: (error) => ({
    status: anthropicErrorStatus(error),
    body: writeAnthropicError(error),
  }),
  eventParser: () => new MessagesEventParser(),
  eventRenderer: (context) => new MessagesEventRenderer(context),
  headerLosses: (headers) => droppedBetas(headers['anthropic-beta']),
  withoutReasoning: withoutThinking,
};

// Removes the reasoning from a body of Anthropic's own API, to retry after "Invalid `signature` in `thinking` block".
// No thinking block may remain, because each would be refused in turn, and `enabled` would require those of earlier
// calls. Adaptive thinking stays on, because it requires none.

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
