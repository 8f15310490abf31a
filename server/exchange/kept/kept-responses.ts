/**
 * Responses that Sluice stores itself, because their provider does not: requests about them are answered, and a body
 * that refers to them is completed with what they said.
 */

import { parseLosslessJson } from '../../apis/neutral/json-text.ts';
import type { RouteMatch } from '../../apis/registry.ts';
import { isKeptId } from '../../apis/translation/kept-reasoning.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { MaybePromise } from '../../ground/promises.ts';
import type { KeptResponse, ResponseStore } from '../../store/ports/kept-stores.ts';
import type { AdmittedRequest, Companion, ReceivedCall, Visit } from '../course/companion.ts';
import type { RequestBody } from '../request/request-body.ts';
import { itemsHere, itemsOf, withHistory, withReferredItems } from '../translation/kept-history.ts';
import { historyApart, isHeavyRequest, itemsApart } from '../translation/request-apart.ts';
import type { TranslationThreads } from '../translation/translation-threads.ts';

export class KeptResponses implements Companion {
  readonly #store: ResponseStore;
  readonly #threads: TranslationThreads;

  constructor(store: ResponseStore, threads: TranslationThreads) {
    this.#store = store;
    this.#threads = threads;
  }

  admitted({ match, member, location }: AdmittedRequest): Visit | null {
    if (match === null) return null;
    const question = { match, groupId: member.group.id, query: location.query };
    return { received: (call) => this.#received(call, question) };
  }

  #received(call: ReceivedCall, question: Parameters<typeof keptAnswer>[1]): MaybePromise<boolean> {
    const answering = keptAnswer(this.#store, question);
    if (answering instanceof Promise) return answering.then((answer) => this.#answered(call, question.groupId, answer));
    return this.#answered(call, question.groupId, answering);
  }

  #answered(call: ReceivedCall, groupId: string, answer: object | null): MaybePromise<boolean> {
    if (answer !== null) return call.reply(answer);
    const { previousResponseId: id } = call.body.fields;
    const continuedId = id !== null && isKeptId(id) ? id : null;
    if (continuedId === null && !namesItems(call.body)) return false;
    return this.#complete(call, groupId, continuedId);
  }

  async #complete(call: ReceivedCall, groupId: string, continuedId: string | null): Promise<false> {
    const { body, memory } = call;
    const keptResponse = continuedId === null ? undefined : await this.#store.find(continuedId, groupId);
    if (keptResponse) memory.parse({ bytes: body.size, values: body.values ?? 0 });
    const continuedBody = keptResponse ? await this.#continued(keptResponse, call) : body;
    const wholeBody = await this.#withKeptItems(continuedBody, call, groupId);
    if (wholeBody !== body) call.replaceBody(wholeBody);
    return false;
  }

  /** The body with the stored items in place of references to them. */
  async #withKeptItems(body: RequestBody, call: ReceivedCall, groupId: string): Promise<RequestBody> {
    const { captured } = body;
    if (!captured || !namesItems(body)) return body;
    const reader = isHeavyRequest(body) ? itemsApart(this.#threads) : itemsHere;
    const whole = await withReferredItems(captured, this.#store, groupId, reader);
    return whole === captured ? body : call.readJson(whole, body.continuesId);
  }

  /** The body with the conversation that it continues in its `input`. */
  async #continued(keptResponse: KeptResponse, call: ReceivedCall): Promise<RequestBody> {
    const { captured, size, values = 0 } = call.body;
    if (!captured) return call.body;
    const { response, input } = keptResponse;
    const isHeavy = isHeavyRequest({ size: size + response.length + input.length, values });
    const history = isHeavy
      ? await historyApart(this.#threads, captured, { response, input })
      : withHistory(captured, keptResponse);
    return history ? call.readJson(history, keptResponse.id) : call.body;
  }
}

/** Whether Sluice has had a part in the input, so that it may refer to items of responses that Sluice stores. */
function namesItems({ marked }: RequestBody): boolean {
  return marked?.some(({ field }) => field === 'input') === true;
}

// Answers requests for a response stored by Sluice in the format of OpenAI's API.

type Json = Record<string, unknown>;

interface Question {
  match: RouteMatch;
  groupId: string;
  query: string;
}

/**
 * Returns the answer to a request for a stored response; null for every other request.
 * @throws GatewayError `job_not_found` if no such response is stored, or `invalid_value` if it does not support the operation
 */
function keptAnswer(store: ResponseStore, question: Question): MaybePromise<object | null> {
  const { route, id } = question.match;
  if (route.job?.kind !== 'response' || id === null || !isKeptId(id)) return null;
  const lookup = store.find(id, question.groupId);
  const answer = (keptResponse: KeptResponse | undefined) => answerAbout(keptResponse ?? missing(id), store, question);
  return lookup instanceof Promise ? lookup.then(answer) : answer(lookup);
}

function missing(id: string): never {
  throw new GatewayError('job_not_found', `Response with id '${id.slice(0, 200)}' not found.`, { param: 'id' });
}

function answerAbout(
  keptResponse: KeptResponse,
  store: ResponseStore,
  { match, groupId, query }: Question,
): MaybePromise<object> {
  const { id } = keptResponse;
  const { route } = match;
  const parameters = new URLSearchParams(query);
  if (route.job?.behaviour === 'deletes') {
    const deletion = store.forget(id, groupId);
    const deleted = { id, object: 'response', deleted: true };
    return deletion ? deletion.then(() => deleted) : deleted;
  }
  if (route.path.endsWith('/input_items')) return inputItems(keptResponse, parameters);
  if (route.method !== 'GET') {
    throw new GatewayError('invalid_value', 'Cannot cancel a synchronous response.', { param: 'id' });
  }
  if (parameters.get('stream') === 'true') {
    throw new GatewayError('invalid_value', 'Only a background response can be streamed again.', {
      param: 'stream',
    });
  }
  return parseLosslessJson(keptResponse.response) as object;
}

const defaultPage = 20;
const longestPage = 100;

/** Lists newest items first by default, as documented in OpenAI's API reference, "List input items". */
function inputItems(keptResponse: KeptResponse, parameters: URLSearchParams): object {
  const items = itemsOf(parseLosslessJson(keptResponse.input)).map((item, index) =>
    withId(item, `msg_${keptResponse.id}_in_${index}`),
  );
  if (parameters.get('order') !== 'asc') items.reverse();
  const limit = Number(parameters.get('limit') ?? defaultPage);
  if (!Number.isInteger(limit) || limit < 1 || limit > longestPage) {
    throw new GatewayError('invalid_value', `Invalid 'limit': use 1 to ${longestPage}.`, { param: 'limit' });
  }
  const after = parameters.get('after');
  const start = after === null ? 0 : items.findIndex(({ id }) => id === after) + 1;
  const data = items.slice(start, start + limit);
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + limit < items.length,
  };
}

function withId(item: Json, id: string): Json {
  if (item.role === undefined) return { id, ...item };
  const type = item.role === 'assistant' ? 'output_text' : 'input_text';
  const content = typeof item.content === 'string' ? [{ type, text: item.content }] : item.content;
  return { id, type: 'message', ...item, content };
}
