/** Pinned requests: how they are pinned, listed and found. They are few, so they are filtered here, for both stores. */

import { isError } from '../../contract/condition.ts';
import { controlError } from '../../contract/control-error.ts';
import { mostPins, type PinnedRequest, pinContains } from '../../contract/pins.ts';
import { fitsFilter } from '../../contract/request-filter.ts';
import type { PinChange, PinnedView, PinView, RequestCount, RequestView } from '../../contract/request-views.ts';
import type { WaitingCaptures } from '../../exchange/capture/capture-companion.ts';
import { configuredSecrets, redactText, withoutKeys } from '../../exchange/redact/redact-credential.ts';
import type { Snapshot } from '../../routing/snapshot.ts';
import type { Ledger } from '../../store/sqlite/ledger.ts';
import type { RequestFilter, RequestPage } from '../../store/sqlite/queries.ts';
import { viewCapture } from './view-request.ts';

export interface AskedRequests extends RequestFilter {
  /** Only pinned ones. */
  pinned?: true;
}

/** The limit of a page of requests, as in the store. */
const usualLimit = 100;

export async function listRequests(
  ledger: Pick<Ledger, 'listRequests' | 'pins'>,
  { pinned, ...filter }: AskedRequests,
): Promise<RequestPage> {
  if (!pinned) return ledger.listRequests(filter);
  const requests = (await pinnedIn(ledger, filter)).map(({ request }) => request);
  const { sort, limit = usualLimit, before } = filter;
  const listed = sort ? requests.toSorted(orderBy(sort)) : requests;
  const from = before === undefined ? 0 : listed.findIndex(({ seq }) => seq < before);
  const page = from === -1 ? [] : listed.slice(from, from + limit);
  const isMore = !sort && from !== -1 && listed.length > from + limit;
  return { requests: page, next: isMore ? (page.at(-1)?.seq ?? null) : null, sortedOf: null, repairedPercent: null };
}

export async function countRequests(
  ledger: Pick<Ledger, 'countRequests' | 'pins'>,
  { pinned, ...filter }: AskedRequests,
): Promise<RequestCount> {
  if (!pinned) return ledger.countRequests(filter);
  const requests = await pinnedIn(ledger, filter);
  return {
    requests: requests.length,
    failed: requests.filter(({ request }) => isError(request)).length,
    isComplete: true,
  };
}

/** In the order of their arrival, newest first. */
async function pinnedIn({ pins }: Pick<Ledger, 'pins'>, filter: RequestFilter): Promise<PinnedRequest[]> {
  const { search = '', within } = filter;
  const isWithin = ({ keyId, groupId }: RequestView) =>
    !within ||
    (keyId !== null && within.keyIds.includes(keyId)) ||
    (groupId !== null && within.groupIds.includes(groupId));
  const all = await pins.list();
  return all
    .filter((pin) => isWithin(pin.request) && fitsFilter(pin.request, filter) && pinContains(pin, search))
    .sort((one, other) => other.request.seq - one.request.seq);
}

const measures: Record<NonNullable<RequestFilter['sort']>['by'], (request: RequestView) => number | null> = {
  duration: ({ totalMs }) => totalMs,
  cost: ({ costUsd }) => costUsd,
  'first-byte': ({ firstByteMs }) => firstByteMs,
  tokens: ({ usage }) => (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0),
};

/** Those without a value come last. */
function orderBy({ by, isAscending }: NonNullable<RequestFilter['sort']>) {
  const missing = isAscending ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  const value = (request: RequestView) => measures[by](request) ?? missing;
  return (one: RequestView, other: RequestView) => (value(one) - value(other) || 0) * (isAscending ? 1 : -1);
}

export function viewPin({ request: { id, keyId, groupId }, pinnedAt, note }: PinnedRequest): PinnedView {
  return { id, keyId, groupId, pinnedAt, note };
}

/** In the ledger, or pinned; null if it is in neither. */
export async function findRequest(
  ledger: Pick<Ledger, 'getRequest' | 'pins'>,
  id: string,
): Promise<RequestView | null> {
  return (await ledger.getRequest(id)) ?? (await ledger.pins.find(id))?.request ?? null;
}

interface PinPorts {
  ledger: Pick<Ledger, 'getRequest' | 'readCapture' | 'pins'>;
  captures: Pick<WaitingCaptures, 'ready'>;
  snapshot: Snapshot;
  pinChanged(change: PinChange): void;
}

/** Rejects with a GatewayError: `not_found`, `conflict` or `storage_unavailable`. */
export async function pinRequest(
  { ledger, captures, snapshot, pinChanged }: PinPorts,
  { id, note }: { id: string; note?: string | undefined },
): Promise<{ pin: PinView }> {
  const earlier = await ledger.pins.find(id);
  const written = note && withoutKeys(redactText(note, configuredSecrets(snapshot).all));
  const pin = {
    pinnedAt: earlier?.pinnedAt ?? Date.now(),
    note: written === undefined ? (earlier?.note ?? null) : written || null,
  };
  const changed = ({ keyId, groupId }: RequestView) => {
    pinChanged({ id, keyId, groupId, pin });
    return { pin };
  };
  if (earlier && (await ledger.pins.note(id, pin.note))) return changed(earlier.request);
  const request = await ledger.getRequest(id);
  if (!request) throw controlError('not_found', { code: 'no-request', id });
  if (request.outcome === null) throw controlError('conflict', { code: 'request-runs', id });
  await captures.ready(id);
  const { capture } = await ledger.readCapture(request);
  const isPinned = await ledger.pins.put({ ...pin, request }, capture && viewCapture(capture), mostPins);
  if (!isPinned) throw controlError('conflict', { code: 'too-many-pins', most: mostPins });
  return changed(request);
}

export async function unpinRequest(
  { ledger: { pins }, pinChanged }: Pick<PinPorts, 'pinChanged'> & { ledger: Pick<Ledger, 'pins'> },
  id: string,
): Promise<Record<string, never>> {
  const pinned = await pins.find(id);
  if (!pinned || !(await pins.remove(id))) throw controlError('not_found', { code: 'no-request', id });
  const { keyId, groupId } = pinned.request;
  pinChanged({ id, keyId, groupId, pin: null });
  return {};
}
