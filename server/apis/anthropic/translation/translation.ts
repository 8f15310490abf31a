/** `POST /v1/messages` in the neutral form and out of it. */
import { boundedPattern } from '../../../ground/bounded-pattern.ts';
import type { WireTranslation } from '../../neutral/answers/wire-translation.ts';
import type { Loss } from '../../neutral/losses.ts';
import { anthropicErrorStatus, writeAnthropicError } from '../write-error.ts';
import { MessagesEventParser, messageEvents } from './parse-events.ts';
import { messagesClient, parseMessagesRequest } from './parse-request.ts';
import { MessagesEventRenderer, renderMessagesAnswer } from './render-events.ts';
import { renderMessagesRequest } from './render-request.ts';
import { withoutThinking } from './without-thinking.ts';

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
