/** What clouds that offer Claude take of Anthropic's API. */
import { pattern } from '../bounded-pattern.ts';
import type { Unavailable } from './dialect.ts';

/** Anthropic's route that counts tokens. */
export const countingPath = '/messages/count_tokens';

/** A beta header, and the fields of the body that nothing but the beta knows. */
const fieldsOfBeta: readonly (readonly [beta: string, fields: readonly string[]])[] = [
  ['mcp-client-', ['mcp_servers']],
  ['fast-mode-', ['speed']],
  ['skills-', ['container']],
  ['code-execution-', ['container']],
  ['context-management-', ['context_management']],
  ['compact-', ['context_management']],
];

/** Betas without which the answer is the same: those that identify a client, and those that every cloud has by now. */
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

/** What becomes of the betas of a request. */
export interface TakenBetas {
  taken: readonly string[];
  /** The others, with their fields. A beta and its field travel together: one alone is refused. */
  unavailable: Unavailable;
}

/** Sorts the betas of a client's `anthropic-beta`, whose unknown ones clouds refuse (QuantumNous/new-api#2975). */
export function takenBetas(header: string | undefined, known: ReadonlySet<string>): TakenBetas {
  const asked = (header ?? '').split(',').map((beta) => beta.trim());
  const taken = [...new Set(asked.filter((beta) => known.has(beta)))];
  const fields = fieldsOfBeta
    .filter(([prefix]) => asked.some((beta) => beta.startsWith(prefix)))
    .flatMap(([, names]) => names)
    .filter((field) => !isTaken(field, taken));
  const missing = asked.filter(
    (beta) => beta !== '' && !known.has(beta) && !idle.some((begin) => beta.startsWith(begin)),
  );
  const betas = [...new Set(missing)].map((beta) => `anthropic-beta:${beta}`);
  return { taken, unavailable: { betas, fields: [...new Set(fields)] } };
}

function isTaken(field: string, taken: readonly string[]): boolean {
  return fieldsOfBeta.some(
    ([prefix, fields]) => fields.includes(field) && taken.some((beta) => beta.startsWith(prefix)),
  );
}

const foreignHeader = pattern(/^(?:anthropic-|x-claude-|x-app$)/);

/** The client's headers without those that only Anthropic knows. */
export function plainHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !foreignHeader.test(name)));
}

/** An error of Anthropic's API. */
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

/** Anthropic's name of the error that such a status stands for. */
export function claudeErrorType(status: number): string {
  return typeOfStatus[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}
