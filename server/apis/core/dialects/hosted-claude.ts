/** The parts of Anthropic's API that other clouds accept for Claude. */

import { GatewayError } from '../../../contract/errors.ts';
import { isObject } from '../../../contract/is-object.ts';
import { lossCodes } from '../../../contract/loss-codes.ts';
import { compareVersion, identify } from '../../../contract/model-identity.ts';
import { boundedPattern } from '../../../ground/bounded-pattern.ts';
import type { Unavailable } from './dialect.ts';

/** Anthropic's route for counting tokens. */
export const countingPath = '/messages/count_tokens';

/** A beta header, and the body fields that exist only with that beta. */
const fieldsOfBeta: readonly (readonly [beta: string, fields: readonly string[]])[] = [
  ['mcp-client-', ['mcp_servers']],
  ['fast-mode-', ['speed']],
  ['skills-', ['container']],
  ['code-execution-', ['container']],
  ['context-management-', ['context_management']],
  ['compact-', ['context_management']],
  ['message-threads-', ['thread']],
];

/** Betas that do not change the answer: those that identify a client, and those that every cloud now includes. */
const idle = [
  'claude-code-',
  'oauth-',
  'prompt-caching-2024-',
  'extended-cache-ttl-',
  'max-tokens-3-5-sonnet-',
  'message-batches-',
  'pdfs-',
  'token-counting-',
];

/** The betas of a request, sorted by whether the cloud accepts them. */
interface SortedBetas {
  accepted: readonly string[];
  /** The remaining betas with their fields. A beta and its field belong together: one without the other is refused. */
  unavailable: Unavailable;
}

/**
 * Anthropic's name for several betas, and the clouds' name for the one of them that Claude Code uses. Without it they
 * refuse `defer_loading` and `tool_reference`. Source: Claude docs, "Tool search tool".
 */
const toolUseBeta = 'advanced-tool-use-2025-11-20';
const toolSearchBeta = 'tool-search-tool-2025-10-19';
/** Models since 4.5; a cloud may refuse the beta for others. */
function searchesTools(model: string): boolean {
  const identity = identify(model);
  return identity.maker === 'anthropic' && identity.version.length > 0 && compareVersion(identity, [4, 5]) >= 0;
}

/**
 * Sorts the betas in a client's `anthropic-beta`. Clouds refuse requests with unknown betas (QuantumNous/new-api#2975).
 */
export function sortBetas(header: string | undefined, served: ReadonlySet<string>, model: string): SortedBetas {
  const written = (header ?? '').split(',').map((beta) => beta.trim());
  const requested = written.map((beta) => (beta === toolUseBeta && searchesTools(model) ? toolSearchBeta : beta));
  const accepted = [...new Set(requested.filter((beta) => served.has(beta)))];
  const fields = fieldsOfBeta
    .filter(([prefix]) => requested.some((beta) => beta.startsWith(prefix)))
    .flatMap(([, names]) => names)
    .filter((field) => !isFieldAccepted(field, accepted));
  const unaccepted = requested.filter(
    (beta) => beta !== '' && !served.has(beta) && !idle.some((begin) => beta.startsWith(begin)),
  );
  const betas = [...new Set(unaccepted)].map((beta) => `anthropic-beta:${beta}`);
  return { accepted, unavailable: { betas, fields: [...new Set(fields)] } };
}

function isFieldAccepted(field: string, accepted: readonly string[]): boolean {
  return fieldsOfBeta.some(
    ([prefix, fields]) => fields.includes(field) && accepted.some((beta) => beta.startsWith(prefix)),
  );
}

const foreignHeader = boundedPattern(/^(?:anthropic-|x-claude-|x-app$)/);

/** The client's headers except those that only Anthropic knows. */
export function plainHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !foreignHeader.test(name)));
}

/**
 * Moves a `cache_control` of the whole request to the block that Anthropic would mark, the last one that can be cached.
 * The clouds refuse it at the top: "cache_control: Extra inputs are not permitted" (UKGovernmentBEIS/inspect_ai#3851).
 */
export function withMarkedBlock(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { cache_control: mark, ...rest } = body;
  const messages: unknown[] = Array.isArray(rest.messages) ? rest.messages : [];
  const last = messages.at(-1);
  if (!isObject(mark) || !isObject(last)) return rest;
  const { content } = last;
  const blocks: unknown[] = typeof content === 'string' ? [{ type: 'text', text: content }] : [content].flat();
  const at = blocks.findLastIndex(isCacheable);
  const block = blocks[at];
  if (!isObject(block) || block.cache_control) return rest;
  const marked = blocks.with(at, { ...block, cache_control: mark });
  return { ...rest, messages: messages.with(-1, { ...last, content: marked }) };
}

/** Source: Claude docs, "Prompt caching", "What cannot be cached". */
function isCacheable(block: unknown): boolean {
  if (!isObject(block) || block.type === 'thinking' || block.type === 'redacted_thinking') return false;
  return block.type !== 'text' || block.text !== '';
}

/** An error body in Anthropic's format. */
export function writeClaudeError(type: string, message: string): Buffer {
  return Buffer.from(JSON.stringify({ type: 'error', error: { type, message } }));
}

const typeOfStatus: Record<number, string> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
};

/** Anthropic's error type for the status. */
export function claudeErrorType(status: number): string {
  return typeOfStatus[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}

/**
 * Threads of messages are stored by Anthropic alone, neither by the clouds nor by providers of other APIs. The first request of one
 * holds the whole conversation, so it is answered anywhere. One that continues a thread holds only what is new; it is
 * refused with the code upon which Anthropic's SDKs send the whole conversation again. Source:
 * `lib/internal/threads/ThreadState.ts` of the TypeScript SDK 1.14.0.
 * @param type that of the request's `thread`
 * @throws GatewayError `thread_not_found` or `thread_unsupported_request`
 */
export function refuseStoredThread(type: unknown): void {
  if (type === 'create') return;
  const message = `'thread' cannot be continued: ${lossCodes['unkept-thread']}.`;
  throw new GatewayError(type === 'continue' ? 'thread_not_found' : 'thread_unsupported_request', message, {
    param: 'thread',
  });
}
