/** The fields of a request on which its usage depends, and the limit that it sets to its output. Pure. */
import type { Capability } from '../../../contract/operations.ts';
import type { RequestView } from '../../core/wire.ts';

const outputLimitFields = ['max_completion_tokens', 'max_output_tokens', 'max_tokens'] as const;

type LimitField = (typeof outputLimitFields)[number];

/** Those that services obey. Services for chats differ in which one. */
const chatLimits = ['max_completion_tokens', 'max_tokens'] as const;
const responseLimits = ['max_output_tokens'] as const;
const completionLimits = ['max_tokens'] as const;

/** Null if the request sets none. */
export function outputLimitOf(
  operation: Capability,
  body: RequestView<LimitField | 'messages' | 'input'>,
): number | null {
  return largestLimit(limitsOf(operation, body).map((name) => body.field(name))) ?? null;
}

function limitsOf(operation: Capability, body: RequestView<'messages' | 'input'>): readonly LimitField[] {
  if (operation === 'completions') return completionLimits;
  return operation === 'responses' || isOfResponses(body) ? responseLimits : chatLimits;
}

/** Whether the body of a chat is one of Responses. Cursor posts such to the chat path (router-for-me/CLIProxyAPI#658). */
export function isOfResponses(body: RequestView<'messages' | 'input'>): boolean {
  return body.raw('messages') === null && body.raw('input') !== null;
}

/** Of several limits, the one that bounds all services: what is sent is what is reserved. Undefined if there is none. */
export function largestLimit(limits: readonly unknown[]): number | undefined {
  const stated = limits.filter((limit) => typeof limit === 'number' && limit > 0) as number[];
  return stated.length === 0 ? undefined : Math.ceil(Math.max(...stated));
}

/** The fields on which the usage of a request depends, of any operation. */
export const usageFields = [
  ...outputLimitFields,
  'messages',
  'input',
  'prompt',
  'conversation',
  'n',
  'seconds',
  'size',
  'quality',
  'service_tier',
  'modalities',
] as const;

export type UsageField = (typeof usageFields)[number];
