/** How a group's requests are attempted: timeouts, retries and fallbacks, and the handling of broken streams. */

import { z } from 'zod';
import { dayMs } from './units.ts';

/** At most one day. */
export const milliseconds = z.number().int().positive().max(dayMs);

/** Timeouts for the phases of an attempt, in milliseconds. Absent values are taken from `defaultTimeouts`. */
export const timeoutsSchema = z.strictObject({
  /** To open a connection, including TLS. */
  connectMs: milliseconds.exactOptional(),
  /** From the last byte of the request to the response headers. */
  firstByteMs: milliseconds.exactOptional(),
  /** From the last byte of the request to the first stream event with content. */
  firstContentMs: milliseconds.exactOptional(),
  /** Between two chunks of the response. */
  idleMs: milliseconds.exactOptional(),
  /** The whole attempt. Absent: no limit. */
  totalMs: milliseconds.exactOptional(),
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
  /**
   * Which target is asked first. `priority`: by priority, equal ones by weight. `weighted`: by weight alone.
   * `round-robin`: like `priority`, but rotating through a provider's credentials. `lowest-latency`: by recent time to
   * the first byte. `lowest-price`: by the price table. `sticky`: like `priority`, but a conversation keeps its target
   * and credential, because of prompt caches.
   */
  strategy: z
    .enum(['priority', 'weighted', 'round-robin', 'lowest-latency', 'lowest-price', 'sticky'])
    .default('priority'),
  /** Maximum number of additional attempts at targets already asked, per request. */
  retries: z.number().int().min(0).max(20).default(2),
  /** Maximum number of additional targets, per request. */
  fallbacks: z.number().int().min(0).max(20).default(3),
  /**
   * No attempt begins later than this after the start of the request, except the first fallback, because a single
   * silent target may take longer than this. If an answer breaks off midway, its rescue has this time again.
   */
  budgetMs: milliseconds.default(120_000),
  /** Override the defaults; a provider's own `timeouts` override these. */
  timeouts: timeoutsSchema.default({}),
  /** `resume`: if a text stream breaks midway, another target is asked and the missing rest is sent to the client. */
  rescue: z.enum(['off', 'resume']).default('resume'),
  /** After this time without content, a second target is asked in parallel and the first answer is used. 0: never. */
  hedgeAfterMs: z.number().int().min(0).max(dayMs).default(0),
  /**
   * A request that makes something (a video, an image, a batch, a response in the background) is not repeated if the provider may
   * have made it and its answer was lost: the client is told. True: it is repeated like any other, and may be made and billed
   * twice.
   */
  retryLostJobs: z.boolean().default(false),
  /** When the client disconnects: cancel the upstream request, or read its response to the end for the exact usage. */
  onClientGone: z.enum(['stop', 'drain']).default('stop'),
  /**
   * What to do with parts of a request that cannot be translated exactly: `tell` drops or emulates them and reports it,
   * `refuse` answers 400. The request header `x-sluice-lossy` overrides it.
   */
  losses: z.enum(['tell', 'refuse']).default('tell'),
});

export type Policy = z.infer<typeof policySchema>;
