/** Pinned requests, which the request log keeps beyond its retention, each with a note. Pure. */
import type { PinView, RequestView } from './request-views.ts';

/** So many requests can be pinned at a time. */
export const mostPins = 200;
/** In characters. */
export const longestNote = 2_000;

/** A pinned request as it is stored, without its capture. */
export interface PinnedRequest extends PinView {
  request: RequestView;
}

/** Whether its note or one of its names contains what is searched, or its id begins so. */
export function pinContains({ request, note }: PinnedRequest, search: string): boolean {
  const { id, modelAsked, modelServed, provider, client, errorCode } = request;
  const sought = search.trim().toLowerCase();
  const texts = [note, modelAsked, modelServed, provider, client, errorCode];
  return id.startsWith(sought) || texts.some((text) => text?.toLowerCase().includes(sought));
}
