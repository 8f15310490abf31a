/** The responses that the demo remembers, for `previous_response_id` and the routes on one response. Lost at its end. */
import type { Turn } from './conversation.ts';
import { notFound } from './demo-error.ts';
import type { JsonObject } from './parameters.ts';
import type { ResponseObject } from './response-object.ts';

export interface StoredResponse {
  /** As it is once it is completed; what a caller sees before that, `responseAt` tells. */
  response: ResponseObject;
  inputItems: readonly JsonObject[];
  /** The whole conversation, from the first of the chained responses to this one's answer; without instructions. */
  turns: readonly Turn[];
  createdAtMs: number;
  isCancelled: boolean;
}

export interface ResponseStore {
  add(stored: StoredResponse): void;
  find(id: string): StoredResponse | undefined;
  /** Throws OpenAI's 404 if there is none of that id. */
  get(id: string): StoredResponse;
  delete(id: string): void;
}

/** The oldest are forgotten beyond this many. */
const MAX_STORED = 1000;
/** A background response waits, then works; in milliseconds from its creation. */
const QUEUED_MS = 250;
const COMPLETED_MS = 1000;

export function createResponseStore(): ResponseStore {
  const stored = new Map<string, StoredResponse>();
  const get = (id: string) => {
    const found = stored.get(id);
    if (!found) throw notFound(`Response with id '${id}' not found.`);
    return found;
  };
  return {
    add: (entry) => {
      stored.set(entry.response.id, entry);
      const [oldest] = stored.keys();
      if (stored.size > MAX_STORED && oldest !== undefined) stored.delete(oldest);
    },
    find: (id) => stored.get(id),
    get,
    delete: (id) => {
      stored.delete(get(id).response.id);
    },
  };
}

/** What a caller sees at that moment: the finished response, or for one in the background the way there. */
export function responseAt(stored: StoredResponse, nowMs: number): ResponseObject {
  const { response } = stored;
  if (stored.isCancelled) return pendingResponse(response, 'cancelled');
  const elapsedMs = nowMs - stored.createdAtMs;
  if (!response.background || elapsedMs >= COMPLETED_MS) return response;
  return pendingResponse(response, elapsedMs < QUEUED_MS ? 'queued' : 'in_progress');
}

/** A response that has no output yet, or never will. */
export function pendingResponse(response: ResponseObject, status: ResponseObject['status']): ResponseObject {
  return { ...response, status, output: [], usage: null, completed_at: null, incomplete_details: null };
}
