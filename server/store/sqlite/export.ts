/** Exports the ledger as CSV or JSON lines, page by page, in constant memory. */

import { verdictOf } from '../../contract/count.ts';
import type { LossNote } from '../../contract/loss-codes.ts';
import type { PinnedView, PinView, RequestView } from '../../contract/request-views.ts';
import type { RequestFilter, RequestPage } from './queries.ts';

export type ExportFormat = 'csv' | 'jsonl';

interface ExportedRequests {
  listRequests(page: Pick<RequestFilter, 'limit' | 'before'>): Promise<Pick<RequestPage, 'requests' | 'next'>>;
  /** Which of them are pinned. */
  listPins(): Promise<readonly PinnedView[]>;
}

/** Yields text, newest request first: CSV with a header line, or one JSON object on each line. */
export async function* exportRequests(
  queries: ExportedRequests,
  format: ExportFormat,
): AsyncGenerator<string, void, undefined> {
  const toLine = format === 'csv' ? csvLine : jsonLine;
  if (format === 'csv') yield `${Object.keys(columns).join(',')}\r\n`;
  const pins = new Map((await queries.listPins()).map(({ id, pinnedAt, note }) => [id, { pinnedAt, note }]));
  const marked = (request: RequestView): ExportedRow => ({ ...request, pin: pins.get(request.id) ?? null });
  let page = await queries.listRequests({ limit: 500 });
  while (page.requests.length > 0) {
    yield page.requests.map((request) => toLine(marked(request))).join('');
    if (page.next === null) return;
    page = await queries.listRequests({ limit: 500, before: page.next });
  }
}

type ExportedRow = RequestView & { pin: PinView | null };

type Value = string | number | boolean | null | undefined;

const columns: Record<string, (row: ExportedRow) => Value> = {
  id: (row) => row.id,
  started_at: (row) => new Date(row.startedAt).toISOString(),
  key: (row) => row.keyId,
  group: (row) => row.groupId,
  method: (row) => row.method,
  route: (row) => row.route,
  capability: (row) => row.capability,
  model_asked: (row) => row.modelAsked,
  model_served: (row) => row.modelServed,
  provider: (row) => row.provider,
  credential: (row) => row.credential,
  stream: (row) => row.stream,
  outcome: (row) => row.outcome ?? 'running',
  verdict: verdictOf,
  status: (row) => row.status,
  error_code: (row) => row.errorCode,
  attempts: (row) => row.attempts.length,
  queue_ms: (row) => row.queueMs,
  connect_ms: (row) => row.connectMs,
  first_byte_ms: (row) => row.firstByteMs,
  first_content_ms: (row) => row.attempts.at(-1)?.firstContentMs,
  longest_gap_ms: (row) => row.attempts.at(-1)?.longestGapMs,
  total_ms: (row) => row.totalMs,
  bytes_in: (row) => row.bytesIn,
  bytes_out: (row) => row.bytesOut,
  usage_certainty: (row) => row.usageCertainty,
  input_tokens: (row) => row.usage?.inputTokens,
  output_tokens: (row) => row.usage?.outputTokens,
  cached_input_tokens: (row) => row.usage?.cachedInputTokens,
  cache_write_tokens: (row) => row.usage?.cacheWriteTokens,
  cache_write_one_hour_tokens: (row) => row.usage?.cacheWriteOneHourTokens,
  reasoning_tokens: (row) => row.usage?.reasoningTokens,
  audio_input_tokens: (row) => row.usage?.audioInputTokens,
  audio_output_tokens: (row) => row.usage?.audioOutputTokens,
  image_input_tokens: (row) => row.usage?.imageInputTokens,
  image_output_tokens: (row) => row.usage?.imageOutputTokens,
  seconds: (row) => row.usage?.seconds,
  characters: (row) => row.usage?.characters,
  images: (row) => row.usage?.images,
  cost_usd: (row) => row.costUsd,
  client: (row) => row.client,
  client_retries: (row) => row.clientRetries,
  dropped: (row) => inWords(row.dropped),
  emulated: (row) => inWords(row.emulated),
  pinned_at: (row) => row.pin && new Date(row.pin.pinnedAt).toISOString(),
  note: (row) => row.pin?.note,
};

/** `top_k (no-equal), tools[] (provider-tool, 3 times)`; empty where nothing was lost. */
function inWords(notes: readonly LossNote[]): string {
  return notes.map(({ code, field, times }) => `${field} (${code}${times > 1 ? `, ${times} times` : ''})`).join(', ');
}

const csvLine = (row: ExportedRow) =>
  `${Object.values(columns)
    .map((readColumn) => csvField(readColumn(row)))
    .join(',')}\r\n`;

/**
 * Where a spreadsheet would read a formula, if a cell began there: at the start, and after what it may split cells at although
 * the comma is meant. Quotation marks do not help then, since they do not begin such a cell. Full-width signs count as the plain.
 */
const beginsFormula = /(^|[;\t\r\n])(?=(?:[^\S\t\r\n]|")*[=+\-@＝＋－＠])/g;

/**
 * A field according to RFC 4180. An apostrophe is put before what a spreadsheet would evaluate as a formula, since clients choose
 * model names and user agents.
 */
export function csvField(value: Value): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return String(value);
  const safe = value.replace(beginsFormula, "$1'").replace(/^[\t\r\n]/, "'$&");
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** `pin` only of those that are pinned. */
function jsonLine({ pin, ...row }: ExportedRow): string {
  const { seq: _, ...fields } = row;
  const rest = { ...fields, verdict: verdictOf(row), ...(pin && { pin }) };
  return `${JSON.stringify(rest)}\n`;
}
