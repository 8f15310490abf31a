import { setImmediate } from 'node:timers/promises';
import type { CapturedAttempt, CapturedExchange } from '../../contract/capture.ts';
import { controlError } from '../../contract/control-error.ts';
import { parseTruncatedJson } from '../../contract/conversation/parse-truncated-json.ts';
import { readRequestText } from '../../contract/conversation/request-text.ts';
import type { CapturedBody, RequestInFull } from '../../contract/request-views.ts';
import type { RequestText } from '../../contract/session-views.ts';
import type { RecentCaptures, WaitingCaptures } from '../../exchange/capture/capture-companion.ts';
import type { Ledger } from '../../store/sqlite/ledger.ts';

type RequestLedger = Pick<Ledger, 'getRequest' | 'readCapture' | 'pins'>;

interface CapturesInMemory {
  captures: Pick<WaitingCaptures, 'ready'>;
  recentCaptures: Pick<RecentCaptures, 'find'>;
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
  return { request, capture, captureAbsence: capture ? null : kept.absence, isRecent: false, pin };
}

/** Of these the rest is not read. */
const mostTextBytes = 2 * 1024 * 1024;

/** What captured requests say; in pieces, between which other work runs. */
export async function viewRequestTexts(
  ledger: RequestLedger,
  { captures, recentCaptures }: CapturesInMemory,
  ids: readonly string[],
): Promise<RequestText[]> {
  const texts: RequestText[] = [];
  for (const id of new Set(ids)) {
    const request = await ledger.getRequest(id);
    if (!request) continue;
    await captures.ready(id);
    const capture = (await recentCaptures.find(id)) ?? (await ledger.readCapture(request)).capture;
    const body = capture?.request.body;
    if (!body) continue;
    const json = parseTruncatedJson(new TextDecoder().decode(body.subarray(0, mostTextBytes), { stream: true }));
    const { keyId, groupId } = request;
    if (json) texts.push({ id, keyId, groupId, ...readRequestText(json.value, json.isCut) });
    await setImmediate();
  }
  return texts;
}

export function viewCapture({
  request,
  response,
  attempts,
}: CapturedExchange<Uint8Array>): CapturedExchange<CapturedBody> {
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
