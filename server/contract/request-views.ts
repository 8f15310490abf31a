/** What is shown of the ledger: requests, and what they used over time. */
import type { RequestOutcome, RequestRecord, UsageTotals } from './ledger.ts';

/** A request as it stands in the ledger. `outcome` is null while it runs. */
export type RequestView = Omit<RequestRecord, 'outcome' | 'totalMs'> & {
  /** Its place in the ledger; rises with time. */
  seq: number;
  outcome: RequestOutcome | null;
  totalMs: number | null;
};

/** What calls itself so, with this key. */
export interface ClientUseView {
  /** As in `RequestRecord`. */
  client: string;
  keyId: string | null;
  /** Unix milliseconds. */
  lastUsedAt: number;
}

/** Requests without a valid key, which have no rows: how many were refused for a reason. */
export interface RefusalView {
  /** The error code that the client got, as in `RequestRecord`. */
  reason: string;
  requests: number;
  /** Unix milliseconds. */
  lastAt: number;
  /** What the last one called itself, as in `RequestRecord`. */
  lastClient: string | null;
}

export interface CapturedBody {
  encoding: 'utf8' | 'base64';
  data: string;
}

export interface UsageView extends UsageTotals {
  /** Id of the key, group or provider, name of the model, or local date (`2026-11-20`); null: requests that had none. */
  name: string | null;
}

/** Steps in which nothing happened are left out. */
export interface UsageStepView {
  /** Unix milliseconds. */
  startMs: number;
  /** Id of the key, group or provider, or name of the model; null: requests that had none, or all together. */
  name: string | null;
  requests: number;
  errors: number;
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

/** Time to the first byte, in milliseconds. Approximate where a step has more than 400 requests: the newest stand for all. */
export interface FirstByteView {
  steps: FirstByteStep[];
  /** Of the same samples, each name that is among them; `name` as in `UsageStepView`. */
  named: (FirstByteStep & Pick<UsageStepView, 'name'>)[];
  /** Of the whole time; null if there was no request. */
  medianMs: number | null;
  p95Ms: number | null;
}
