/**
 * An earlier request as its client sent it, to send it again or to go on from it in the playground. Parts that were not
 * kept are never made up: then it states why.
 */
import type { CaptureAbsence, CaptureGap } from './capture.ts';
import type { RequestInFull, RequestView } from './request-views.ts';

export type SentRequest = KeptRequest | MissingRequest;

export interface KeptRequest {
  kind: 'kept';
  request: RequestView;
  method: string;
  /** With its query: `/v1/chat/completions`. */
  path: string;
  /** Those that change what is answered, such as `anthropic-version`; no credentials. */
  headers: Readonly<Record<string, string>>;
  /** Byte for byte what was sent; empty for a request without one. */
  body: string;
}

export interface MissingRequest {
  kind: 'missing';
  request: RequestView;
  why: CaptureAbsence | CaptureGap | 'not-text';
}

/** Of what the engine answers to the query for one request. */
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

/** Null if the path has more in it than the model. */
function pathOf({ route, modelAsked }: RequestView): string | null {
  const path = modelAsked === null ? route : route.replace('{model}', () => encodeURIComponent(modelAsked));
  return path.includes('{') ? null : path;
}
