/** Formats one ledger request with all its details for the terminal. */
import type { AttemptRecord, CacheNote, UsageCertainty } from '../contract/ledger.ts';
import { type LossNote, lossCodes } from '../contract/loss-codes.ts';
import type { RequestView } from '../contract/request-views.ts';
import { outcomeCell } from './request-rows.ts';
import { type Cell, fact, localTime, number, type Shown, table } from './shown.ts';

export function describeRequest(request: RequestView): Shown {
  const { modelAsked, modelServed, errorCode, totalMs } = request;
  const facts: [name: string, value: Cell | null][] = [
    ['request', `${request.id}  ${request.method} ${request.route}`],
    ['time', `${localTime(request.startedAt)}${totalMs === null ? '' : `, ${Math.round(totalMs)} ms`}`],
    [
      'outcome',
      outcomeCell(
        request.outcome,
        [request.outcome ?? 'running', request.status, errorCode].filter((each) => each !== null).join(' '),
      ),
    ],
    [
      'model',
      modelServed === null || modelServed === modelAsked ? modelAsked : `${modelAsked ?? '-'} -> ${modelServed}`,
    ],
    ['key, group', [request.keyId, request.groupId].filter((each) => each !== null).join(', ')],
    ['client', request.client],
    ['usage', usageFact(request)],
    ['cache', cacheFact(request.cached)],
    ['cassette', request.cassette],
    ['shadow of', request.shadowOf && `${request.shadowOf.id}  ${request.shadowOf.model ?? '-'}`],
    ['fault', request.fault === null ? null : `${request.fault}, on purpose`],
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
    costUsd === null ? 'of unknown cost' : `$${costUsd.toFixed(6)}`,
    certainties[usageCertainty],
  ];
  return facts.filter((each) => each !== null).join(', ');
}

function cacheFact(cached: CacheNote | null): string | null {
  if (cached === null) return null;
  const { result, savedUsd } = cached;
  return savedUsd === null ? result : `${result}, saved $${savedUsd.toFixed(4)}`;
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
