/** Requests that refer to responses which Sluice stores: the body is completed with what they refer to. */

import { isKeptId } from '../../apis/translation/kept-ids.ts';
import type { OutgoingCall } from '../../exchange/request/outgoing-call.ts';
import type { RequestBody } from '../../exchange/request/request-body.ts';
import { withHistory, withReferredItems } from '../../exchange/translation/kept-history.ts';
import type { MaybePromise } from '../../ground/maybe-promise.ts';
import type { Member } from '../../routing/snapshot.ts';
import type { ResponseStore } from '../../store/ports/response-store.ts';
import type { KeptResponse } from '../../store/rules/kept-response.ts';
import { readJsonBody } from './json-body.ts';

export interface Completing {
  body: RequestBody;
  member: Member;
  memory: OutgoingCall['memory'];
  /** Called if `body` replaces the received one. */
  replaced(body: RequestBody): void;
}

/** The body, with what it refers to of the responses that Sluice stores. Returns no promise for a usual request. */
export function completed(store: ResponseStore, received: Completing): MaybePromise<RequestBody> {
  const { body } = received;
  const { previousResponseId: id } = body.fields;
  const continuedId = id !== null && isKeptId(id) ? id : null;
  return continuedId !== null || namesItems(body) ? completedFrom(store, received, continuedId) : body;
}

async function completedFrom(
  store: ResponseStore,
  { body, member: { group }, memory, replaced }: Completing,
  continuedId: string | null,
): Promise<RequestBody> {
  const keptResponse = continuedId === null ? undefined : await store.find(continuedId, group.id);
  if (keptResponse) memory.parse({ bytes: body.size, values: body.values ?? 0 });
  const continuedBody = keptResponse ? await continueFrom(keptResponse, body) : body;
  const wholeBody = await withKeptItems(continuedBody, store, group.id);
  if (wholeBody !== body) replaced(wholeBody);
  return wholeBody;
}

/** The body with the conversation that it continues in its `input`. */
async function continueFrom(keptResponse: KeptResponse, body: RequestBody): Promise<RequestBody> {
  const history = body.captured && withHistory(body.captured, keptResponse);
  return history ? readJsonBody(history, null, keptResponse.id) : body;
}

/** The body with the stored items in place of references to them. */
async function withKeptItems(body: RequestBody, store: ResponseStore, groupId: string): Promise<RequestBody> {
  const { captured } = body;
  if (!captured || !namesItems(body)) return body;
  const whole = await withReferredItems(captured, store, groupId);
  return whole === captured ? body : readJsonBody(whole, null, body.continuesId);
}

/** Whether Sluice has had a part in the input, so that it may refer to items of responses that Sluice stores. */
function namesItems({ marked }: RequestBody): boolean {
  return marked?.some(({ field }) => field === 'input') === true;
}
