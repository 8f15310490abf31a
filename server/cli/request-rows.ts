/** Formats requests as table rows for the terminal. */
import { isApproximate, type RequestRecord } from '../contract/ledger.ts';
import type { RequestView } from '../contract/request-views.ts';
import { type Cell, moment, number, optional, styled } from './shown.ts';

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
  '404 error',
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

export function requestRow(request: LoggedRequest): Cell[] {
  const { usage } = request;
  const about = isApproximate(request.usageCertainty) ? '~' : '';
  return [
    moment(request.startedAt),
    outcomeCell(
      request.outcome,
      `${request.status ?? '-'}${request.outcome === 'ok' ? '' : ` ${request.outcome ?? 'running'}`}`,
    ),
    request.totalMs === null ? '-' : String(Math.round(request.totalMs)),
    `${request.method} ${request.route}`,
    request.modelAsked ?? '-',
    request.provider ?? '-',
    request.keyId ?? '-',
    usage?.inputTokens === undefined && usage?.outputTokens === undefined
      ? '-'
      : `${about}${usage.inputTokens ?? '?'} + ${usage.outputTokens ?? '?'}`,
    request.costUsd === null ? '-' : `${about}$${request.costUsd.toFixed(5)}`,
    String(request.attempts.length),
    reasonOf(request),
  ];
}

/** How a request ended, or that it runs. */
export function outcomeCell(outcome: RequestView['outcome'], text: string): Cell {
  if (outcome === null) return text;
  return styled(outcome === 'ok' ? 'good' : outcome === 'client-gone' ? 'warning' : 'bad', text);
}

/** Why the request failed, or which failures of attempts it recovered from. */
function reasonOf({ errorCode, outcome, attempts }: LoggedRequest): string {
  if (errorCode !== null) return errorCode;
  const failures = attempts.flatMap(({ failure }) => failure ?? []);
  if (failures.length === 0) return '';
  return outcome === 'ok' ? `recovered from ${failures.join(', ')}` : (failures.at(-1) ?? '');
}
