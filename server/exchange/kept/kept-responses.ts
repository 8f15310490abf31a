/**
 * Responses that Sluice stores itself, because their provider does not: requests about them are answered, and a body that refers
 * to them is completed with what they said.
 */

import { isKeptId } from '../../apis/translation/kept-reasoning.ts';
import type { MaybePromise } from '../../ground/promises.ts';
import type { ResponseStore } from '../../store/ports/response-store.ts';
import type { KeptResponse } from '../../store/rules/kept-response.ts';
import type { AdmittedRequest, Companion, ReceivedCall, Visit } from '../course/companion.ts';
import type { RequestBody } from '../request/request-body.ts';
import { keptAnswer } from '../translation/kept-answer.ts';
import { itemsHere, withHistory, withReferredItems } from '../translation/kept-history.ts';
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
