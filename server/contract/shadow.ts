/**
 * Shadow requests: a share of a group's requests that are also sent to another target, without anyone waiting for the
 * answer.
 */
import { z } from 'zod';

export const shadowSchema = z.strictObject({
  /** `provider/model`, or the name of a model alias, of which the first usable target is taken. */
  target: z.string().min(1).max(512),
  /** The share of requests to send: 0.1 is a tenth of them. */
  share: z.number().min(0).max(1),
  /** Maximum cost of the shadows per day (local time), in US dollars. */
  dailyUsd: z.number().positive().max(1_000_000),
});

export type ShadowSettings = z.infer<typeof shadowSchema>;

/** The client's request that a shadow repeats, as it ended. */
export interface ShadowedRequest {
  /** Its request id. */
  id: string;
  provider: string | null;
  /** The upstream model that answered it. */
  model: string | null;
  /** US dollars; null if unknown. */
  costUsd: number | null;
  firstByteMs: number | null;
  totalMs: number;
  outputTokens: number | null;
}

/** Why a request that was selected for its shadow was not sent there. */
export const shadowSkips = [
  /** The client's own request was not answered in full by a provider. */
  'not-answered',
  /** It runs tools at the provider, continues something stored there, or runs in the background. */
  'side-effects',
  /** Its body is longer than 1 MiB, or is not JSON. */
  'body',
  /** The provider and model that answered are the target itself. */
  'same-target',
  /** The target's provider is switched off, has no credential, or does not serve this API. */
  'unavailable',
  /** The target's price is unknown, so that the daily limit could not be enforced. */
  'unpriced',
  /** It might cost more than what is left of the daily limit. */
  'daily-limit',
  /** The maximum number of shadows is already running. */
  'busy',
] as const;
export type ShadowSkip = (typeof shadowSkips)[number];

/** Means over the pairs in which both sides have the value; null without such a pair. */
export interface ShadowSide {
  costUsd: number | null;
  firstByteMs: number | null;
  totalMs: number | null;
  outputTokens: number | null;
}

/** The shadows of one group at one model. */
export interface ShadowSummary {
  groupId: string;
  provider: string;
  model: string;
  /** Shadow requests, and those of them that were answered. */
  requests: number;
  answered: number;
  /** Answered pairs whose answers could be compared, and those of them with equal ones. */
  compared: number;
  equal: number;
  /** Their total cost in US dollars, as far as known. */
  costUsd: number;
  /** The clients' own requests, and their shadows. */
  original: ShadowSide;
  shadow: ShadowSide;
}

export interface ShadowReport {
  summaries: ShadowSummary[];
  /** Requests that were not sent since the engine started, by group and reason. */
  skipped: { groupId: string; reasons: Partial<Record<ShadowSkip, number>> }[];
}
