/** How the requests of a group are tried: how long each phase may take, who is asked how often, what happens to a broken stream. */
import { z } from 'zod';

/** Up to a day. */
export const milliseconds = z.number().int().positive().max(86_400_000);

/** Limits on the phases of one attempt, in milliseconds. What is absent is as in `defaultTimeouts`. */
export const timeoutsSchema = z.strictObject({
  /** To open a connection, TLS included. */
  connectMs: milliseconds.exactOptional(),
  /** From the request's last byte to the reply's headers. */
  firstByteMs: milliseconds.exactOptional(),
  /** From the request's last byte to the first event of a stream that says something. */
  firstContentMs: milliseconds.exactOptional(),
  /** Between two pieces of the reply. */
  idleMs: milliseconds.exactOptional(),
  /** The whole attempt. Absent: no limit, since a long stream is no fault. */
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
 * Images, videos and reasoning models take minutes. While another target is left, the first byte and the first content of
 * streams default to 60 s, and those of whole answers to 120 s.
 */
export const defaultTimeouts: Timeouts = {
  connectMs: 5_000,
  firstByteMs: 600_000,
  firstContentMs: 600_000,
  idleMs: 300_000,
};

/** How many targets may be asked how often, within which time, and what happens to a stream that breaks. */
export const policySchema = z.strictObject({
  /**
   * Which target goes first. `priority`: as ordered, by weight among equals. `weighted`: by weight alone. `round-robin`: as
   * `priority`, the credentials of a provider in turn. `lowest-latency`: the shortest time to the first byte of late.
   * `lowest-price`: the cheapest by the price table. `sticky`: as `priority`, but among equals a conversation keeps its target,
   * and its credential, for prompt caches.
   */
  strategy: z
    .enum(['priority', 'weighted', 'round-robin', 'lowest-latency', 'lowest-price', 'sticky'])
    .default('priority'),
  /** Further attempts at targets that were asked already, in one request. */
  retries: z.number().int().min(0).max(20).default(2),
  /** Further targets that may be asked, in one request. */
  fallbacks: z.number().int().min(0).max(20).default(3),
  /**
   * After this time from the request's beginning there is no further attempt but the first at another target, since one
   * silence may last longer. Where an answer breaks off after some of it went out, the time begins anew with the break.
   */
  budgetMs: milliseconds.default(120_000),
  /** A provider's own `timeouts` go over these, and these over the defaults. */
  timeouts: timeoutsSchema.default({}),
  /**
   * `resume`: where a stream of text breaks after some of it went out, the next target is asked, and what the client lacks is
   * sent on from there.
   */
  rescue: z.enum(['off', 'resume']).default('resume'),
  /** After this time without content the next target is asked too, and the first to answer is taken. 0: never. */
  hedgeAfterMs: z.number().int().min(0).max(86_400_000).default(0),
  /** When a client hangs up: stop the upstream, which saves money, or read its answer to the end, which tells its exact usage. */
  onClientGone: z.enum(['stop', 'drain']).default('stop'),
});

export type Policy = z.infer<typeof policySchema>;
