/** Stored responses, for `previous_response_id` and the routes on one response. In memory only. */
import type { Turn } from './conversation.ts';
import { notFound } from './demo-error.ts';
import type { JsonObject } from './parameters.ts';
import type { ResponseObject } from './response-object.ts';

export interface StoredResponse {
  /** In its completed state; `responseAt` returns what a caller sees before that. */
  response: ResponseObject;
  inputItems: readonly (JsonObject & { id: string })[];
  /** The whole conversation with all chained responses up to this answer, without instructions. */
  turns: readonly Turn[];
  createdAtMs: number;
  isCancelled: boolean;
}

export interface ResponseStore {
  add(stored: StoredResponse): void;
  find(id: string): StoredResponse | undefined;
  /** Throws OpenAI's 404 if there is none with this id. */
  get(id: string): StoredResponse;
  delete(id: string): void;
}

/** Maximum number of responses; beyond it, the oldest is dropped. */
const MAX_STORED = 1000;
/** A background response is first queued, then in progress. In milliseconds from its creation. */
const QUEUED_MS = 250;
const COMPLETED_MS = 1000;

export function createResponseStore(): ResponseStore {
  const responses = new Map<string, StoredResponse>();
  const get = (id: string) => {
    const found = responses.get(id);
    if (!found) throw notFound(`Response with id '${id}' not found.`);
    return found;
  };
  return {
    add: (entry) => {
      responses.set(entry.response.id, entry);
      const [oldest] = responses.keys();
      if (responses.size > MAX_STORED && oldest !== undefined) responses.delete(oldest);
    },
    find: (id) => responses.get(id),
    get,
    delete: (id) => {
      responses.delete(get(id).response.id);
    },
  };
}

/** The response as a caller sees it at this time: finished, or pending while it runs in the background. */
export function responseAt(stored: StoredResponse, nowMs: number): ResponseObject {
  const { response } = stored;
  if (stored.isCancelled) return pendingResponse(response, 'cancelled');
  const elapsedMs = nowMs - stored.createdAtMs;
  if (!response.background || elapsedMs >= COMPLETED_MS) return response;
  return pendingResponse(response, elapsedMs < QUEUED_MS ? 'queued' : 'in_progress');
}

/** The response without output, because it is not finished yet or was cancelled. */
export function pendingResponse(response: ResponseObject, status: ResponseObject['status']): ResponseObject {
  return { ...response, status, output: [], usage: null, completed_at: null, incomplete_details: null };
}
