/** Shadow requests: a share of a group's requests that are also sent to another target, whose answer nobody waits for. */
import { z } from 'zod';

export const shadowSchema = z.strictObject({
  /** `provider/model`, or the name of a model alias; of an alias, the first target that can be used. */
  target: z.string().min(1).max(512),
  /** The part of the requests that is sent: 0.1 is a tenth of them. */
  share: z.number().min(0).max(1),
  /** The most that they may cost in a day of local time, in US dollars. */
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
  /** US dollars; null: unknown. */
  costUsd: number | null;
  firstByteMs: number | null;
  totalMs: number;
  outputTokens: number | null;
}

/** Why a request that was chosen for its shadow was not sent there. */
export const shadowSkips = [
  /** The client's own request was not answered in full by a provider. */
  'not-answered',
  /** It runs tools at the provider, continues something stored there, or runs in the background. */
  'side-effects',
  /** Its body has more than 1 MiB, or is not JSON. */
  'body',
  /** The provider and model that answered are the target. */
  'same-target',
  /** The target's provider is switched off, has no credential, or does not serve this API. */
  'unavailable',
  /** The target's price is not known, so that the limit of the day could not hold it. */
  'unpriced',
  /** It might cost more than is left of the limit of the day. */
  'daily-limit',
  /** As many shadows run as may run at the same time. */
  'busy',
] as const;
export type ShadowSkip = (typeof shadowSkips)[number];

/** Means over the pairs in which both have the value; null without such a pair. */
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
  /** What all of them cost, as far as that is known, in US dollars. */
  costUsd: number;
  /** The clients' own requests, and their shadows. */
  original: ShadowSide;
  shadow: ShadowSide;
}

export interface ShadowReport {
  summaries: ShadowSummary[];
  /** Requests that were not sent since the engine started, by group. */
  skipped: { groupId: string; reasons: Partial<Record<ShadowSkip, number>> }[];
}
