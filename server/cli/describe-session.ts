/** Formats sessions for the terminal. */
import { isApproximate, type ToolResult } from '../contract/ledger.ts';
import {
  type CacheLoss,
  programOf,
  type SessionInFull,
  type SessionRequest,
  type SessionSums,
  type SessionTurn,
  type SessionView,
} from '../contract/session-views.ts';
import { outcomeCell } from './request-rows.ts';
import { type Cell, fact, localTime, moment, number, optional, type Shown, styled, table } from './shown.ts';

/** A session by what it is called everywhere; null if nothing is known of it. */
export type TitledSession = SessionView & { title: string | null };

export const sessionColumns = [
  'session',
  optional('title'),
  'last active',
  optional('key'),
  optional('client'),
  number('turns'),
  optional(number('requests')),
  optional('models'),
  number('tokens'),
  number('cost'),
  number('failed'),
];

export function sessionRow(session: TitledSession): Cell[] {
  const { id, title, lastAt, keyId, client, turns, requests, isComplete } = session;
  return [
    id,
    title ?? '-',
    stateOf(session) === '' ? moment(lastAt) : stateCell(session),
    keyId ?? '-',
    programOf(client) ?? '-',
    String(turns),
    isComplete ? String(requests) : `more than ${requests}`,
    session.models.join(', ') || '-',
    tokensOf(session),
    costOf(session),
    String(session.errors),
  ];
}

function stateOf({ stoppedAt, isOverBudget, running }: SessionView): string {
  if (stoppedAt !== null) return ' (stopped)';
  if (isOverBudget) return ' (over its budget)';
  return running > 0 ? ' (running)' : '';
}

/** When it was last active, and what it is doing that a person would look for. */
function stateCell(session: SessionView): Cell {
  const text = localTime(session.lastAt) + stateOf(session);
  return session.stoppedAt !== null || session.isOverBudget ? styled('warning', text) : text;
}

export function describeSession({ session, turns, requests }: SessionInFull, title: string | null): Shown {
  const { id, firstAt, lastAt, keyId, groupId, client, stoppedAt, retries } = session;
  const facts: [name: string, value: string][] = [
    ['session', id],
    ['title', title ?? ''],
    ['time', `${localTime(firstAt)} to ${localTime(lastAt)}`],
    ['key, group', [keyId, groupId].filter((each) => each !== null).join(', ')],
    ['client', client ?? ''],
    ['tokens', `${tokensOf(session)}, ${session.cachedInputTokens} of the input from a cache`],
    ['cost', costOf(session)],
    ['failed', `${session.errors} requests; ${retries} retries`],
    ['stopped', stoppedAt === null ? '' : localTime(stoppedAt)],
    ['budget', session.isOverBudget ? `used up: $${session.budgetUsedUsd.toFixed(4)}` : ''],
  ];
  const byTurn = Map.groupBy(requests, ({ turn }) => turn);
  return [
    ...facts.filter(([, value]) => value !== '').map(([name, value]) => fact(name, value)),
    ...turns.flatMap((turn) => [
      '',
      turnTitle(turn),
      table(requestColumns, (byTurn.get(turn.turn) ?? []).map(requestRow), ''),
    ]),
  ];
}

function turnTitle(turn: SessionTurn): string {
  const seconds = turn.endedAt === null ? 'running' : `${((turn.endedAt - turn.startedAt) / 1_000).toFixed(1)} s`;
  const context = turn.contextTokens === null ? '' : `, context ${turn.contextTokens}`;
  return `Turn ${turn.turn}: ${localTime(turn.startedAt)}, ${seconds}, ${tokensOf(turn)} tokens${context}, ${costOf(turn)}`;
}

const requestColumns = [
  'request',
  optional('of'),
  'outcome',
  optional(number('ms')),
  'model',
  number('input'),
  optional(number('cached')),
  number('output'),
  number('cost'),
  optional('note'),
];

function requestRow(request: SessionRequest): Cell[] {
  const { id, outcome, status, errorCode, totalMs, modelServed, modelAsked, thread, isToolResult, costUsd } = request;
  const about = isApproximate(request.usageCertainty) ? '~' : '';
  const kind = isToolResult === null ? '-' : isToolResult ? 'tools' : 'prompt';
  return [
    id,
    thread === 0 ? kind : `${kind} (beside, ${thread})`,
    outcomeCell(outcome, [outcome ?? 'running', status, errorCode].filter((each) => each !== null).join(' ')),
    totalMs === null ? '-' : String(Math.round(totalMs)),
    modelServed ?? modelAsked ?? '-',
    numberOf(request.inputTokens, about),
    numberOf(request.cachedInputTokens),
    numberOf(request.outputTokens, about),
    costUsd === null ? '-' : `${about}$${costUsd.toFixed(5)}`,
    notesOf(request).join('; '),
  ];
}

const lossTexts = {
  target: 'another model or provider was asked',
  pause: 'after a pause',
  prefix: 'the beginning of the input changed',
} as const;

function notesOf({ tools, cacheLoss, modelBefore, isShorter, attempts, clientRetries }: SessionRequest): string[] {
  return [
    ...(tools.length > 0 ? [tools.map(toolOf).join(', ')] : []),
    ...(cacheLoss ? [lossOf(cacheLoss)] : []),
    ...(modelBefore === null ? [] : [`before: ${modelBefore}`]),
    ...(isShorter ? ['shorter context'] : []),
    ...(attempts > 1 ? [`${attempts} attempts`] : []),
    ...(clientRetries > 0 ? ['sent again by the client'] : []),
  ];
}

function lossOf({ tokens, costUsd, cause }: CacheLoss): string {
  const cost = costUsd === null ? '' : ` ($${costUsd.toFixed(4)})`;
  return `${tokens} tokens no longer from the cache${cost}: ${lossTexts[cause]}`;
}

function toolOf({ name, bytes, hasFailed }: ToolResult): string {
  return `${name ?? 'a tool'} ${bytes} B${hasFailed ? ' failed' : ''}`;
}

const numberOf = (value: number | null, about = '') => (value === null ? '-' : `${about}${value}`);

function tokensOf({ inputTokens, outputTokens }: SessionSums): string {
  return `${inputTokens} + ${outputTokens}`;
}

function costOf({ costUsd, unpricedRequests }: SessionSums): string {
  const unknown = unpricedRequests > 0 ? ` and ${unpricedRequests} of unknown cost` : '';
  return costUsd === null ? (unpricedRequests > 0 ? 'unknown' : '-') : `$${costUsd.toFixed(4)}${unknown}`;
}
