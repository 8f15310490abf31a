/** Formats one ledger request with all its details for the terminal. */
import { type Judged, meaningOf, type Verdict, verdictOf } from '../contract/count.ts';
import {
  type AttemptRecord,
  type CacheNote,
  costOf,
  isApproximate,
  type RequestRecord,
  type UsageCertainty,
} from '../contract/ledger.ts';
import { type LossNote, lossCodes } from '../contract/loss-codes.ts';
import type { PinView, RequestView } from '../contract/request-views.ts';
import { costText, money } from './money.ts';
import { type Cell, fact, localTime, moment, number, optional, type Shown, styled, table } from './shown.ts';

interface Further {
  pin?: PinView | null;
  /** What a person asked, and was answered; null or undefined if that was not captured. */
  asked?: string | null | undefined;
  answered?: string | null | undefined;
}

export function describeRequest(request: RequestView, { asked, answered, pin = null }: Further = {}): Shown {
  const { modelAsked, modelServed, errorCode, totalMs } = request;
  const facts: [name: string, value: Cell | null][] = [
    ['request', `${request.id}  ${request.method} ${request.route}`],
    ['time', `${localTime(request.startedAt)}${totalMs === null ? '' : `, ${Math.round(totalMs)} ms`}`],
    [
      'outcome',
      verdictCell(
        verdictOf(request),
        [verdictOf(request), request.status, errorCode].filter((each) => each !== null).join(' '),
      ),
    ],
    [
      'model',
      modelServed === null || modelServed === modelAsked ? modelAsked : `${modelAsked ?? '-'} -> ${modelServed}`,
    ],
    ['key, group', [request.keyId, request.groupId].filter((each) => each !== null).join(', ')],
    ['client', request.client],
    ['usage', usageFact(request)],
    ['speed', speedFact(request)],
    ['cache', cacheFact(request.cached)],
    ['cassette', request.cassette],
    ['shadow of', request.shadowOf && `${request.shadowOf.id}  ${request.shadowOf.model ?? '-'}`],
    ['fault', request.fault === null ? null : `${request.fault}, on purpose`],
    ['pinned', pin && localTime(pin.pinnedAt)],
    ['note', pin?.note ?? null],
    ['asked', asked ?? null],
    ['answered', answered ?? null],
  ];
  const knownFacts = facts.filter(([, value]) => value !== null && value !== '');
  return [
    ...knownFacts.map(([name, value]) => fact(name, value ?? '')),
    '',
    table(
      ['attempt', 'provider', 'model', number('status'), number('ms'), 'failure'],
      request.attempts.map(attemptRow),
      'No provider was asked.',
    ),
    ...notesOf('Dropped by the translation', request.dropped),
    ...notesOf('Emulated by the translation', request.emulated),
  ];
}

const certainties: Record<UsageCertainty, string | null> = {
  reported: null,
  partial: 'incomplete: the response did not finish',
  estimated: 'estimated: the provider did not report all of it',
  reserved: 'as reserved: the provider did not report it, and a hard budget applies',
  none: null,
};

function usageFact({ usage, usageCertainty, costUsd }: RequestView): string | null {
  if (usage === null) return null;
  const facts = [
    `${usage.inputTokens ?? '?'} + ${usage.outputTokens ?? '?'} tokens`,
    usage.cachedInputTokens ? `${usage.cachedInputTokens} of the input from a cache` : null,
    usage.reasoningTokens ? `${usage.reasoningTokens} of the output for reasoning` : null,
    costUsd === null ? 'of unknown cost' : money(costUsd, 6),
    certainties[usageCertainty],
  ];
  return facts.filter((each) => each !== null).join(', ');
}

/** How long the first byte took, and how fast the rest came. */
function speedFact({ firstByteMs, totalMs, usage }: RequestView): string | null {
  if (firstByteMs === null) return null;
  const first = `first byte after ${Math.round(firstByteMs)} ms`;
  const restMs = (totalMs ?? 0) - firstByteMs;
  const tokens = usage?.outputTokens ?? 0;
  // A rate over less would say something of the buffers in between.
  return restMs < 100 || tokens < 2 ? first : `${first}, then ${Math.round((tokens * 1_000) / restMs)} tokens/s`;
}

function cacheFact(cached: CacheNote | null): string | null {
  if (cached === null) return null;
  const { result, savedUsd } = cached;
  return savedUsd === null ? result : `${result}, saved ${money(savedUsd, 4)}`;
}

function attemptRow(attempt: AttemptRecord): string[] {
  const { cause, provider, model, status, totalMs, failure, error } = attempt;
  const reason = [failure, error].filter((each) => each !== null).join(': ');
  return [
    cause,
    provider,
    model ?? '-',
    String(status ?? '-'),
    totalMs === null ? '-' : String(Math.round(totalMs)),
    reason,
  ];
}

function notesOf(title: string, notes: readonly LossNote[]): string[] {
  if (notes.length === 0) return [];
  const lines = notes.map(
    ({ field, code, times }) => `  ${field}${times > 1 ? ` (${times} times)` : ''}: ${lossCodes[code]}`,
  );
  return ['', `${title}:`, ...lines];
}

export type LoggedRequest = RequestView | RequestRecord;

export const requestColumns = [
  'time',
  'status',
  number('ms'),
  optional('route'),
  'model',
  optional('provider'),
  optional('key'),
  number('tokens'),
  number('cost'),
  optional(number('tries')),
  'reason',
];

/** For rows that are printed one by one: widths that fit most requests. */
export const usualRow: readonly Cell[] = [
  '2026-11-20 13:39:05',
  '404 refused',
  '12345',
  'POST /v1/chat/completions',
  'claude-sonnet-4-5-20250929',
  'anthropic',
  'my-editor',
  '12345 + 1234',
  '$0.00000',
  'tries',
  '',
];

/** Formats requests as table rows for the terminal. */
export function requestRow(request: LoggedRequest): Cell[] {
  const { usage } = request;
  const about = isApproximate(request.usageCertainty) ? '~' : '';
  return [
    moment(request.startedAt),
    statusCell(request),
    request.totalMs === null ? '-' : String(Math.round(request.totalMs)),
    `${request.method} ${request.route}`,
    request.modelAsked ?? '-',
    request.provider ?? '-',
    request.keyId ?? '-',
    usage?.inputTokens === undefined && usage?.outputTokens === undefined
      ? '-'
      : `${about}${usage.inputTokens ?? '?'} + ${usage.outputTokens ?? '?'}`,
    costText(costOf(request, usage !== null), 5, about),
    String(request.attempts.length),
    reasonOf(request),
  ];
}

function statusCell(request: Judged): Cell {
  const verdict = verdictOf(request);
  return verdictCell(verdict, `${request.status ?? '-'}${verdict === 'ok' ? '' : ` ${verdict}`}`);
}

/** What became of a request, or that it runs. */
export function verdictCell(verdict: Verdict, text: string): Cell {
  const meaning = meaningOf[verdict];
  return meaning === 'neutral' ? text : styled(meaning, text);
}

/** Why the request failed, or which failures of attempts it recovered from. */
function reasonOf({ errorCode, outcome, attempts }: LoggedRequest): string {
  if (errorCode !== null) return errorCode;
  const failures = attempts.flatMap(({ failure }) => failure ?? []);
  if (failures.length === 0) return '';
  return outcome === 'ok' ? `recovered from ${failures.join(', ')}` : (failures.at(-1) ?? '');
}
