/**
 * An earlier request as its client sent it, for sending it again or continuing it in the playground. Missing parts are
 * never made up; the reason why they are missing is returned instead.
 */
import type { CaptureAbsence, CaptureGap } from './capture.ts';
import type { RequestInFull, RequestView } from './request-views.ts';

export type SentRequest = KeptRequest | MissingRequest;

export interface KeptRequest {
  kind: 'kept';
  request: RequestView;
  method: string;
  /** Includes the query: `/v1/chat/completions`. */
  path: string;
  /** Only headers that affect the answer, such as `anthropic-version`; no credentials. */
  headers: Readonly<Record<string, string>>;
  /** Exactly the bytes that were sent; empty for a request without a body. */
  body: string;
}

export interface MissingRequest {
  kind: 'missing';
  request: RequestView;
  why: CaptureAbsence | CaptureGap | 'not-text';
}

/** `RequestInFull` is the engine's result of the query for one request. */
export function sentRequestOf({ request, capture, captureAbsence }: RequestInFull): SentRequest {
  const missing = (why: MissingRequest['why']): MissingRequest => ({ kind: 'missing', request, why });
  if (!capture) return missing(captureAbsence ?? 'unknown');
  const { gap, body, headers, url, method } = capture.request;
  if (gap !== null) return missing(gap);
  if (body?.encoding === 'base64') return missing('not-text');
  const path = url ?? pathOf(request);
  if (path === null) return missing('older-version');
  return { kind: 'kept', request, method, path, headers: keptHeaders(headers ?? []), body: body?.data ?? '' };
}

const headerNames = ['content-type', 'anthropic-version', 'anthropic-beta', 'openai-beta'];

function keptHeaders(headers: readonly (readonly [name: string, value: string])[]): Record<string, string> {
  return Object.fromEntries(
    headers.map(([name, value]) => [name.toLowerCase(), value] as const).filter(([name]) => headerNames.includes(name)),
  );
}

/** Null if the path has parameters other than the model. */
function pathOf({ route, modelAsked }: RequestView): string | null {
  const path = modelAsked === null ? route : route.replace('{model}', () => encodeURIComponent(modelAsked));
  return path.includes('{') ? null : path;
}
