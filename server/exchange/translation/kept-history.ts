/** Expands references to stored responses: inserts the stored conversation into the request's `input`. */

import { parseLosslessJson, RawJson, writeJson } from '../../apis/neutral/json-text.ts';
import { responseOfItem } from '../../apis/translation/kept-reasoning.ts';
import { GatewayError } from '../../contract/errors.ts';
import { isObject } from '../../contract/is-object.ts';
import type { MaybePromise } from '../../ground/promises.ts';
import type { KeptResponse, ResponseStore } from '../../store/ports/kept-stores.ts';

type Json = Record<string, unknown>;
/** What of a stored response is inserted. */
export type HistoryKept = Pick<KeptResponse, 'response' | 'input'>;

/** What reads a body that names items. */
export interface ItemReader {
  /** The ids of the responses that have them. */
  referred(body: Buffer): MaybePromise<Iterable<string>>;
  completed(body: Buffer, kept: readonly HistoryKept[]): MaybePromise<Buffer>;
}

export const itemsHere: ItemReader = { referred: responsesReferredIn, completed: withItems };

/**
 * Prepends the stored conversation to the request's `input`, with the reasoning as sealed by Sluice; null if the body is not
 * a JSON object.
 */
export function withHistory(body: Buffer, keptResponse: HistoryKept): Buffer | null {
  const request = parseLosslessJson(body.toString());
  if (!isObject(request)) return null;
  const { output } = parseLosslessJson(keptResponse.response) as Json;
  const history = [...itemsOf(parseLosslessJson(keptResponse.input)), ...itemsOf(output)];
  const { previous_response_id: _, ...rest } = request;
  return Buffer.from(writeJson({ ...rest, input: [...history, ...itemsOf(request.input)] }));
}

const referenceName = Buffer.from('"item_reference"');
/** Limits the expanded size: a short reference can be repeated, and each expands to an item of any length. */
const maxReferredCharacters = 16 * 1024 * 1024;

/**
 * Replaces references to items of stored responses by the items; other references stay.
 * @throws GatewayError `too_large` if the items exceed `maxReferredCharacters`
 */
export function withReferredItems(
  body: Buffer,
  store: ResponseStore,
  groupId: string,
  reader = itemsHere,
): MaybePromise<Buffer> {
  if (!body.includes(referenceName)) return body;
  const referred = reader.referred(body);
  const complete = (ids: Iterable<string>): MaybePromise<Buffer> => {
    const lookups = [...ids].map((id) => store.find(id, groupId));
    if (lookups.length === 0) return body;
    const completed = (kept: readonly (KeptResponse | undefined)[]) =>
      reader.completed(
        body,
        kept.filter((each) => each !== undefined),
      );
    return lookups.some((lookup) => lookup instanceof Promise)
      ? Promise.all(lookups).then(completed)
      : completed(lookups as (KeptResponse | undefined)[]);
  };
  return referred instanceof Promise ? referred.then(complete) : complete(referred);
}

export function responsesReferredIn(body: Buffer): ReadonlySet<string> {
  const request = parseLosslessJson(body.toString());
  const input: readonly unknown[] = isObject(request) && Array.isArray(request.input) ? request.input : [];
  const ids = new Set<string>();
  for (const item of input) {
    const id = isReference(item) ? responseOfItem(item.id) : null;
    if (id !== null) ids.add(id);
  }
  return ids;
}

/** @throws GatewayError `too_large` */
export function withItems(body: Buffer, kept: readonly HistoryKept[]): Buffer {
  const request = parseLosslessJson(body.toString()) as Json;
  const keptItems = new KeptItems();
  for (const each of kept) keptItems.add(each);
  const input = request.input as readonly unknown[];
  return Buffer.from(writeJson({ ...request, input: input.map((item) => keptItems.inPlaceOf(item)) }));
}

function isReference(item: unknown): item is { id: string } {
  return isObject(item) && item.type === 'item_reference' && typeof item.id === 'string';
}

class KeptItems {
  /** Serialised items by id. */
  readonly #items = new Map<unknown, RawJson>();
  #characters = 0;

  add(keptResponse: HistoryKept): void {
    const { output } = parseLosslessJson(keptResponse.response) as Json;
    for (const item of itemsOf(output)) this.#items.set(item.id, new RawJson(writeJson(item)));
  }

  inPlaceOf(item: unknown): unknown {
    if (!isReference(item)) return item;
    const stored = this.#items.get(item.id);
    if (!stored) return item;
    this.#characters += stored.text.length;
    if (this.#characters > maxReferredCharacters) {
      throw new GatewayError('too_large', 'The items that the input refers to are too long.', { param: 'input' });
    }
    return stored;
  }
}

/** Returns the items of an `input` or `output`; a string counts as one user message. */
export function itemsOf(input: unknown): Json[] {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }];
  return Array.isArray(input) ? input.filter(isObject) : [];
}
