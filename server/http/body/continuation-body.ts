/** Requests that refer to responses which Sluice stores: the body is completed with what they refer to. */
import type { RequestBody } from '../../exchange/request/request-body.ts';
import { withHistory, withReferredItems } from '../../exchange/translation/kept-history.ts';
import type { ResponseStore } from '../../store/ports/response-store.ts';
import type { KeptResponse } from '../../store/rules/kept-response.ts';
import { readJsonBody } from './json-body.ts';

/** The body with the conversation that it continues in its `input`. */
export async function continueFrom(keptResponse: KeptResponse, body: RequestBody): Promise<RequestBody> {
  const history = body.captured && withHistory(body.captured, keptResponse);
  return history ? readJsonBody(history, null, keptResponse.id) : body;
}

/**
 * The body with the stored items in place of references to them. Only a body that names items of such responses is read.
 * @throws GatewayError `too_large` if the items are too long
 */
export async function withKeptItems(body: RequestBody, store: ResponseStore, groupId: string): Promise<RequestBody> {
  const { captured, marked = [] } = body;
  if (!captured || marked.every(({ field }) => field !== 'input')) return body;
  const completed = await withReferredItems(captured, store, groupId);
  return completed === captured ? body : readJsonBody(completed, null, body.continuesId);
}
