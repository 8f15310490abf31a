/** Views of the ledger: requests, and usage over time. */
import type { CaptureAbsence, CapturedExchange } from './capture.ts';
import type { RequestOutcome, RequestRecord, UsageTotals } from './ledger.ts';

/** A request in the ledger. `outcome` is null while it runs. */
export type RequestView = Omit<RequestRecord, 'outcome' | 'totalMs'> & {
  /** Sequence number in the ledger. */
  seq: number;
  outcome: RequestOutcome | null;
  totalMs: number | null;
};

/** A client, identified by its `user-agent`, and the key that it used. */
export interface ClientUseView {
  /** As in `RequestRecord`. */
  client: string;
  keyId: string | null;
  /** Unix milliseconds. */
  lastUsedAt: number;
}

/** Refusals over a limit, of one key and reason in a minute at one replica, that have ledger rows. Further ones are counted. */
export const refusalsListedPerMinute = 30;

/**
 * Number of refused requests without ledger rows, for one reason: those without a valid key, or those of one key over a limit.
 * Of the latter, the first `refusalsListedPerMinute` have rows and are not among them.
 */
export interface RefusalView {
  /** Null: without a valid key. */
  keyId: string | null;
  /** The `errorCode` of `RequestRecord`. */
  reason: string;
  requests: number;
  /** Unix milliseconds. */
  lastAt: number;
  /** `client` of the last one, as in `RequestRecord`. */
  lastClient: string | null;
}

export interface RequestCount {
  requests: number;
  /** As in `usage`. */
  failed: number;
  /** As in `usage`: not among `failed`. */
  refused: number;
  /** False if only the newest requests were counted, so that there may be more. */
  isComplete: boolean;
}

/** A body, or the part of it that was kept. */
export interface CapturedBody {
  encoding: 'utf8' | 'base64';
  data: string;
}

/** That a request is pinned. */
export interface PinView {
  /** Unix milliseconds. */
  pinnedAt: number;
  /** Null if there is none. */
  note: string | null;
}

/** Which request is pinned. */
export interface PinnedView extends PinView, Pick<RequestView, 'id' | 'keyId' | 'groupId'> {}

/** That a request was pinned or unpinned, or its note changed. */
export interface PinChange extends Pick<RequestView, 'id' | 'keyId' | 'groupId'> {
  /** Null: it is not pinned any more. */
  pin: PinView | null;
}

/** One request in full. */
export interface RequestInFull {
  request: RequestView;
  /** Null if nothing is kept; `captureAbsence` then has the reason. */
  capture: CapturedExchange<CapturedBody> | null;
  captureAbsence: CaptureAbsence | null;
  /** It is in memory only, as one of the newest requests. */
  isRecent: boolean;
  /** Null if it is not pinned. */
  pin: PinView | null;
}

export interface UsageView extends UsageTotals {
  /**
   * Id of the key, group or provider, name of the model, or local date (`2026-11-20`); null for requests without one.
   */
  name: string | null;
}

/** Steps without requests are omitted. */
export interface UsageStepView {
  /** Unix milliseconds. */
  startMs: number;
  /** Id of the key, group or provider, or name of the model; null for requests without one, or for the total. */
  name: string | null;
  requests: number;
  /** Both as in `usage`. */
  failed: number;
  refused: number;
  inputTokens: number;
  outputTokens: number;
  /** As in `usage`. */
  costUsd: number | null;
  unpricedRequests: number;
}

export interface FirstByteStep {
  startMs: number;
  samples: number;
  medianMs: number;
  p95Ms: number;
}

/** Time to the first byte. Steps with more than 400 requests are computed from the newest 400. */
export interface FirstByteView {
  steps: FirstByteStep[];
  /** The same samples by name; `name` as in `UsageStepView`. */
  named: (FirstByteStep & Pick<UsageStepView, 'name'>)[];
  /** Over the whole range; null without requests. */
  medianMs: number | null;
  p95Ms: number | null;
}

/** Told with the results of a search while its index is being repaired. */
export const repairText = (percent: string) => `Search is being repaired, ${percent} %: older requests may be missing.`;
