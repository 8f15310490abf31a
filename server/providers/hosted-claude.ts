/** What clouds that offer Claude take of Anthropic's API. */
import { pattern } from '../bounded-pattern.ts';

/** A beta header, and the fields of the body that nothing but the beta knows. */
const fieldsOfBeta: readonly (readonly [beta: string, fields: readonly string[]])[] = [
  ['mcp-client-', ['mcp_servers']],
  ['fast-mode-', ['speed']],
  ['skills-', ['container']],
  ['code-execution-', ['container']],
  ['context-management-', ['context_management']],
  ['compact-', ['context_management']],
];

export interface TakenBetas {
  taken: readonly string[];
  /** Fields of betas that the cloud does not have. A beta and its field travel together: one alone is refused. */
  omitted: readonly string[];
}

/** Sorts the betas of a client's `anthropic-beta`, whose unknown ones clouds refuse (QuantumNous/new-api#2975). */
export function takenBetas(header: string | undefined, known: ReadonlySet<string>): TakenBetas {
  const asked = (header ?? '').split(',').map((beta) => beta.trim());
  const taken = [...new Set(asked.filter((beta) => known.has(beta)))];
  const omitted = fieldsOfBeta
    .filter(([prefix]) => asked.some((beta) => beta.startsWith(prefix)))
    .flatMap(([, fields]) => fields)
    .filter((field) => !isTaken(field, taken));
  return { taken, omitted: [...new Set(omitted)] };
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
