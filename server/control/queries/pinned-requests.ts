/**
 * Requests of the ledger and pinned ones: how they are listed, found and pinned. Pinned ones are few, so they are filtered here, for
 * both stores.
 */

import { setImmediate } from 'node:timers/promises';
import type { CapturedAttempt, CapturedExchange } from '../../contract/capture.ts';
import { controlError } from '../../contract/control-error.ts';
import { parseTruncatedJson } from '../../contract/conversation/parse-truncated-json.ts';
import { readRequestText } from '../../contract/conversation/request-text.ts';
import { isFailed, isRefused } from '../../contract/count.ts';
import { isClient } from '../../contract/known-clients.ts';
import { mostPins, type PinnedRequest, pinContains } from '../../contract/pins.ts';
import { fitsFilter } from '../../contract/request-filter.ts';
import type {
  CapturedBody,
  PinnedView,
  PinView,
  RequestCount,
  RequestInFull,
  RequestView,
} from '../../contract/request-views.ts';
import type { RequestText } from '../../contract/session-views.ts';
import type { RecentCaptures, WaitingCaptures } from '../../exchange/capture/capture-companion.ts';
import { configuredSecrets, redactText, withoutKeys } from '../../exchange/redact/redact-credential.ts';
import type { Snapshot } from '../../routing/snapshot.ts';
import type { Ledger } from '../../store/sqlite/ledger.ts';
import type { RequestFilter, RequestPage } from '../../store/sqlite/queries.ts';

export interface AskedRequests extends Omit<RequestFilter, 'client' | 'foundElsewhere'> {
  /** As a filter names it: see `isClient`. */
  client?: string;
  /** Only pinned ones. */
  pinned?: true;
}

/** The limit of a page of requests, as in the store. */
const usualLimit = 100;

/** Where requests are, and what they say. */
type Searched<Method extends keyof Ledger> = {
  ledger: Pick<Ledger, Method | 'pins'>;
  recentCaptures: Pick<RecentCaptures, 'search'>;
};

export async function listRequests(
  { ledger, recentCaptures }: Searched<'listRequests' | 'listNames'>,
  { pinned, ...filter }: AskedRequests,
): Promise<RequestPage> {
  if (!pinned) return ledger.listRequests(await inLedger({ ledger, recentCaptures }, filter));
  const requests = (await pinnedIn(ledger, filter)).map(({ request }) => request);
  const { sort, limit = usualLimit, before } = filter;
  const listed = sort ? requests.toSorted(orderBy(sort)) : requests;
  const from = before === undefined ? 0 : listed.findIndex(({ seq }) => seq < before);
  const page = from === -1 ? [] : listed.slice(from, from + limit);
  const isMore = !sort && from !== -1 && listed.length > from + limit;
  return { requests: page, next: isMore ? (page.at(-1)?.seq ?? null) : null, sortedOf: null, repairedPercent: null };
}

export async function countRequests(
  { ledger, recentCaptures }: Searched<'countRequests' | 'listNames'>,
  { pinned, ...filter }: AskedRequests,
): Promise<RequestCount> {
  if (!pinned) return ledger.countRequests(await inLedger({ ledger, recentCaptures }, filter));
  const requests = await pinnedIn(ledger, filter);
  return {
    requests: requests.length,
    failed: requests.filter(({ request }) => isFailed(request)).length,
    refused: requests.filter(({ request }) => isRefused(request)).length,
    isComplete: true,
  };
}

/** For the ledger, which knows clients by what they call themselves, and not what is said in requests that are in memory. */
async function inLedger(
  { ledger, recentCaptures }: Searched<'listNames'>,
  { client, ...filter }: Omit<AskedRequests, 'pinned'>,
): Promise<RequestFilter> {
  return {
    ...filter,
    ...(client !== undefined && { client: await clientsNamed(ledger, client) }),
    ...(filter.search !== undefined && { foundElsewhere: await recentCaptures.search(filter.search) }),
  };
}

/** The recorded clients that a filter means. */
export async function clientsNamed(ledger: Pick<Ledger, 'listNames'>, client: string): Promise<string[]> {
  const recorded = await ledger.listNames('client');
  return [client, ...recorded.filter((each) => each !== client && isClient(each, client))];
}

/** In the order of their arrival, newest first. */
async function pinnedIn(
  { pins }: Pick<Ledger, 'pins'>,
  filter: Omit<AskedRequests, 'pinned'>,
): Promise<PinnedRequest[]> {
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
}

/** Rejects with a GatewayError: `not_found`, `conflict` or `storage_unavailable`. */
export async function pinRequest(
  { ledger, captures, snapshot }: PinPorts,
  { id, note }: { id: string; note?: string | undefined },
): Promise<{ pin: PinView }> {
  const earlier = await ledger.pins.find(id);
  const written = note && withoutKeys(redactText(note, configuredSecrets(snapshot).all));
  const pin = {
    pinnedAt: earlier?.pinnedAt ?? Date.now(),
    note: written === undefined ? (earlier?.note ?? null) : written || null,
  };
  if (earlier && (await ledger.pins.note(id, pin.note))) return { pin };
  const request = await ledger.getRequest(id);
  if (!request) throw controlError('not_found', { code: 'no-request', id });
  if (request.outcome === null) throw controlError('conflict', { code: 'request-runs', id });
  await captures.ready(id);
  const { capture } = await ledger.readCapture(request);
  const isPinned = await ledger.pins.put({ ...pin, request }, capture && viewCapture(capture), mostPins);
  if (!isPinned) throw controlError('conflict', { code: 'too-many-pins', most: mostPins });
  return { pin };
}

export async function unpinRequest({ pins }: Pick<Ledger, 'pins'>, id: string): Promise<Record<string, never>> {
  if (!(await pins.remove(id))) throw controlError('not_found', { code: 'no-request', id });
  return {};
}

type RequestLedger = Pick<Ledger, 'getRequest' | 'readCapture' | 'pins'>;

interface CapturesInMemory {
  captures: Pick<WaitingCaptures, 'ready'>;
  recentCaptures: Pick<RecentCaptures, 'find' | 'isDisplaced'>;
}

/** Rejects with GatewayError `not_found`. What the ledger no longer has is read from the copy of a pinned request. */
export async function viewRequest(
  ledger: RequestLedger,
  { captures, recentCaptures }: CapturesInMemory,
  id: string,
): Promise<RequestInFull> {
  const pinned = await ledger.pins.find(id);
  const request = (await ledger.getRequest(id)) ?? pinned?.request;
  if (!request) throw controlError('not_found', { code: 'no-request', id });
  const pin = pinned && { pinnedAt: pinned.pinnedAt, note: pinned.note };
  const recent = await recentCaptures.find(id);
  if (recent) return { request, capture: viewCapture(recent), captureAbsence: null, isRecent: true, pin };
  await captures.ready(id);
  const kept = await ledger.readCapture(request);
  const copy = pinned && !kept.capture ? await ledger.pins.readCapture(id) : null;
  const capture = kept.capture ? viewCapture(kept.capture) : copy;
  const absence = kept.absence === 'off' && recentCaptures.isDisplaced(request) ? 'displaced' : kept.absence;
  return { request, capture, captureAbsence: capture ? null : absence, isRecent: false, pin };
}

/** Of these the rest is not read. */
const mostTextBytes = 2 * 1024 * 1024;

/** Longer would delay other work. */
const sliceMs = 5;

/** What captured requests say; in slices, between which other work runs. */
export async function viewRequestTexts(
  ledger: RequestLedger,
  { captures, recentCaptures }: CapturesInMemory,
  ids: readonly string[],
): Promise<RequestText[]> {
  const texts: RequestText[] = [];
  let sliceAtMs = performance.now();
  for (const id of new Set(ids)) {
    if (performance.now() - sliceAtMs >= sliceMs) {
      await setImmediate();
      sliceAtMs = performance.now();
    }
    const request = await ledger.getRequest(id);
    if (!request) continue;
    await captures.ready(id);
    const capture = (await recentCaptures.find(id)) ?? (await ledger.readCapture(request)).capture;
    const body = capture?.request.body;
    if (!body) continue;
    const json = parseTruncatedJson(new TextDecoder().decode(body.subarray(0, mostTextBytes), { stream: true }));
    const { keyId, groupId } = request;
    if (json) texts.push({ id, keyId, groupId, ...readRequestText(json.value, json.isCut) });
  }
  return texts;
}

function viewCapture({ request, response, attempts }: CapturedExchange<Uint8Array>): CapturedExchange<CapturedBody> {
  const view = (each: CapturedAttempt<Uint8Array>): CapturedAttempt<CapturedBody> => ({
    request: { ...each.request, body: viewBody(each.request.body) },
    response: { ...each.response, body: viewBody(each.response.body) },
  });
  return { ...view({ request, response }), attempts: attempts.map(view) };
}

function viewBody(bytes: Uint8Array | null): CapturedBody | null {
  if (!bytes) return null;
  try {
    // A truncated body may end within a character, which `stream` permits.
    return { encoding: 'utf8', data: new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true }) };
  } catch {
    return { encoding: 'base64', data: Buffer.from(bytes).toString('base64') };
  }
}
