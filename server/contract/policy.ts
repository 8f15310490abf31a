/** How a group's requests are attempted: timeouts, retries and fallbacks, and the handling of broken streams. */

import { z } from 'zod';
import { longestTimeoutMs, mostAttempts } from './bounds.ts';

/** At most one day. */
export const milliseconds = z.number().int().positive().max(longestTimeoutMs);

/** Timeouts for the phases of an attempt, in milliseconds. Absent values are taken from `defaultTimeouts`. */
export const timeoutsSchema = z.strictObject({
  connectMs: milliseconds.exactOptional().describe('To open a connection, including TLS.'),
  firstByteMs: milliseconds.exactOptional().describe('From the last byte of the request to the response headers.'),
  firstContentMs: milliseconds
    .exactOptional()
    .describe('From the last byte of the request to the first stream event with content.'),
  idleMs: milliseconds.exactOptional().describe('Between two chunks of the response.'),
  totalMs: milliseconds.exactOptional().describe('The whole attempt. Absent: no limit.'),
});

export interface Timeouts {
  connectMs: number;
  firstByteMs: number;
  firstContentMs: number;
  idleMs: number;
  totalMs?: number;
}

/**
 * Images, videos and reasoning models may take minutes. While other targets remain, `firstByteMs` and `firstContentMs`
 * default to 60 s for streams and 120 s for whole answers.
 */
export const defaultTimeouts: Timeouts = {
  connectMs: 5_000,
  firstByteMs: 600_000,
  firstContentMs: 600_000,
  idleMs: 300_000,
};

export const policySchema = z.strictObject({
  strategy: z
    .enum(['priority', 'weighted', 'round-robin', 'lowest-latency', 'lowest-price', 'sticky'])
    .default('priority')
    .describe(
      "Which target is asked first. `priority`: by priority, equal ones by weight. `weighted`: by weight alone. `round-robin`: like `priority`, but rotating through a provider's credentials. `lowest-latency`: by recent time to the first byte. `lowest-price`: by the price table. `sticky`: like `priority`, but a conversation keeps its target and credential, because of prompt caches.",
    ),
  retries: z
    .number()
    .int()
    .min(0)
    .max(mostAttempts)
    .default(2)
    .describe('Maximum number of additional attempts at targets already asked, per request.'),
  fallbacks: z
    .number()
    .int()
    .min(0)
    .max(mostAttempts)
    .default(3)
    .describe('Maximum number of additional targets, per request.'),
  budgetMs: milliseconds
    .default(120_000)
    .describe(
      'No attempt begins later than this after the start of the request, except the first fallback, because a single silent target may take longer than this. If an answer breaks off midway, its rescue has this time again.',
    ),
  timeouts: timeoutsSchema.default({}).describe("Override the defaults; a provider's own `timeouts` override these."),
  rescue: z
    .enum(['off', 'resume'])
    .default('resume')
    .describe(
      '`resume`: if a text stream breaks midway, another target is asked and the missing rest is sent to the client.',
    ),
  hedgeAfterMs: z
    .number()
    .int()
    .min(0)
    .max(longestTimeoutMs)
    .default(0)
    .describe(
      'After this time without content, a second target is asked in parallel and the first answer is used. 0: never.',
    ),
  retryLostJobs: z
    .boolean()
    .default(false)
    .describe(
      'A request that makes something (a video, an image, a batch, a response in the background) is not repeated if the provider may have made it and its answer was lost: the client is told. True: it is repeated like any other, and may be made and billed twice.',
    ),
  onClientGone: z
    .enum(['stop', 'drain'])
    .default('stop')
    .describe(
      'When the client disconnects: cancel the upstream request, or read its response to the end for the exact usage.',
    ),
  losses: z
    .enum(['tell', 'refuse'])
    .default('tell')
    .describe(
      'What to do with parts of a request that cannot be translated exactly: `tell` drops or emulates them and reports it, `refuse` answers 400. The request header `x-sluice-lossy` overrides it.',
    ),
});

export type Policy = z.infer<typeof policySchema>;
