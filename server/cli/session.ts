/** `sluice sessions` and `sluice session`: the turns of an agent or a conversation, and their cost. */

import { type Command, InvalidArgumentError } from 'commander';
import { nameOfClient } from '../contract/known-clients.ts';
import { costOf, isApproximate, type ToolResult } from '../contract/ledger.ts';
import type { SessionFilterInput } from '../contract/queries.ts';
import {
  type CacheLoss,
  type RequestText,
  type SessionInFull,
  type SessionRequest,
  type SessionSums,
  type SessionTurn,
  type SessionView,
  titleOf,
} from '../contract/session-views.ts';
import type { Control } from './control.ts';
import { verdictCell } from './describe-request.ts';
import type { Examples } from './help.ts';
import { costText, money, showCurrency, sumText } from './money.ts';
import { CliError } from './programs/exit-codes.ts';
import { type Cell, fact, localTime, moment, number, optional, type Shown, styled, table } from './shown.ts';
import { parsePastTime } from './time-options.ts';
import type { VerbContext, Verbs } from './verb.ts';

interface ListOptions {
  key?: string;
  group?: string;
  client?: string;
  since?: number;
  running?: boolean;
  stopped?: boolean;
  limit: number;
}

export const sessionExamples: Examples = {
  'session list': ['sluice session list --key my-editor --since 2h', 'sluice session list --stopped --json'],
  'session show': ['sluice session show ses_0123456789abcdef', 'sluice session show ses_0123456789abcdef --json'],
  'session export': [
    'sluice session export ses_0123456789abcdef > session.jsonl',
    'sluice session export ses_0123456789abcdef | wc -l',
  ],
  'session stop': ['sluice session stop ses_0123456789abcdef', 'sluice session stop ses_0123456789abcdef --json'],
  'session resume': ['sluice session resume ses_0123456789abcdef', 'sluice session resume ses_0123456789abcdef --json'],
};

export function addSessionVerbs(program: Command, { on }: Verbs): void {
  const session = program.command('session').description('list, show, export, stop or resume sessions');
  const list = session
    .command('list', { isDefault: true })
    .description('list the latest sessions: conversations and runs of agents')
    .option('--key <id>', 'of this key')
    .option('--group <id>', 'of this group')
    .option(
      '--client <client>',
      'of this client: its name (“Claude Code”), its id in `sluice connect`, or its whole user-agent',
    )
    .option('--since <when>', 'active since then: a date, or a time span such as 2h', parsePastTime)
    .option('--running', 'with a request that has not ended')
    .option('--stopped', 'whose requests are refused: stopped, or over their budget')
    .option('-n, --limit <number>', 'the number of sessions', parseLimit, 20);
  on<ListOptions>(list, async ({ control, output }, _, options) => {
    await showCurrency(control);
    const { sessions } = await control.query({ type: 'sessions', filter: filterOf(options), limit: options.limit });
    const titled = await withTitles(sessions, control);
    const rows = titled.map(sessionRow);
    output.show(titled, table(sessionColumns, rows, 'There are no such sessions.'));
  });

  const show = session.command('show').argument('<id>').description('show its turns and requests');
  on(show, async ({ control, output }, [id = '']) => {
    await showCurrency(control);
    const full = await control.query({ type: 'session', id });
    const [titled] = await withTitles([full.session], control);
    output.show(full, describeSession(full, titled?.title ?? null));
  });
  const exporting = session
    .command('export')
    .argument('<id>')
    .description('print its requests, one JSON object on a line');
  on(exporting, async ({ control, terminal }, [id = '']) => {
    const { requests } = await control.query({ type: 'session', id });
    for (const request of requests) terminal.stdout.write(`${JSON.stringify({ session: id, ...request })}\n`);
  });
  const stop = session.command('stop').argument('<id>').description('refuse its further requests until it is resumed');
  on(stop, (context, [id = '']) => change(context, 'session.stop', id));
  const resume = session.command('resume').argument('<id>').description('serve its requests again');
  on(resume, (context, [id = '']) => change(context, 'session.resume', id));
}

/** The engine's maximum per query. */
const mostAsked = 50;

/** As the window and the panel call them: by how they begin, where that is captured. */
async function withTitles(sessions: readonly SessionView[], control: Control): Promise<TitledSession[]> {
  const ids = sessions.flatMap(({ openingId }) => openingId ?? []);
  const openings = new Map<string, RequestText>();
  for (let from = 0; from < ids.length; from += mostAsked) {
    const texts = await control.query({ type: 'request-texts', ids: ids.slice(from, from + mostAsked) });
    for (const text of texts) openings.set(text.id, text);
  }
  return sessions.map((session) => ({
    ...session,
    title: titleOf(session, openings.get(session.openingId ?? '')),
  }));
}

/**
 * Requires a running Sluice: a stop that is only stored would not reach it, and without one there is no runaway
 * session.
 */
async function change({ control, output }: VerbContext, type: 'session.stop' | 'session.resume', id: string) {
  if (control.origin === null) throw new CliError('Sluice is not running, so there is no session to change.');
  const result = await control.execute({ type, id });
  const text =
    type === 'session.stop' ? `Requests of ${id} are refused from now on.` : `Requests of ${id} are served again.`;
  output.show(result, text);
}

function filterOf({ key, group, client, since, running, stopped }: ListOptions): SessionFilterInput {
  return {
    ...(key !== undefined && { keyId: key }),
    ...(group !== undefined && { groupId: group }),
    ...(client !== undefined && { client }),
    ...(since !== undefined && { sinceMs: since }),
    ...(running && { running }),
    ...(stopped && { stopped }),
  };
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 200) return limit;
  throw new InvalidArgumentError('Give a number from 1 to 200.');
}

/** A session by what it is called everywhere; null if nothing is known of it. */
type TitledSession = SessionView & { title: string | null };

const sessionColumns = [
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
  optional(number('refused')),
];

/** Formats sessions for the terminal. */
function sessionRow(session: TitledSession): Cell[] {
  const { id, title, lastAt, keyId, client, turns, requests, isComplete } = session;
  return [
    id,
    title ?? '-',
    stateOf(session) === '' ? moment(lastAt) : stateCell(session),
    keyId ?? '-',
    client ? nameOfClient(client) : '-',
    String(turns),
    isComplete ? String(requests) : `more than ${requests}`,
    session.models.join(', ') || '-',
    tokensOf(session),
    sumText(session),
    String(session.failed),
    String(session.refused),
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

function describeSession({ session, turns, requests }: SessionInFull, title: string | null): Shown {
  const { id, firstAt, lastAt, keyId, groupId, client, stoppedAt, retries } = session;
  const facts: [name: string, value: string][] = [
    ['session', id],
    ['title', title ?? ''],
    ['time', `${localTime(firstAt)} to ${localTime(lastAt)}`],
    ['key, group', [keyId, groupId].filter((each) => each !== null).join(', ')],
    ['client', client ?? ''],
    ['tokens', `${tokensOf(session)}, ${session.cachedInputTokens} of the input from a cache`],
    ['cost', sumText(session)],
    ['failed', `${session.failed} requests, ${session.refused} refused; ${retries} retries`],
    ['stopped', stoppedAt === null ? '' : localTime(stoppedAt)],
    ['budget', session.isOverBudget ? `used up: ${money(session.budgetUsedUsd, 4)}` : ''],
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
  return `Turn ${turn.turn}: ${localTime(turn.startedAt)}, ${seconds}, ${tokensOf(turn)} tokens${context}, ${sumText(turn)}`;
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
  const { id, verdict, status, errorCode, totalMs, modelServed, modelAsked, thread, isToolResult } = request;
  const about = isApproximate(request.usageCertainty) ? '~' : '';
  const kind = isToolResult === null ? '-' : isToolResult ? 'tools' : 'prompt';
  return [
    id,
    thread === 0 ? kind : `${kind} (beside, ${thread})`,
    verdictCell(verdict, [verdict, status, errorCode].filter((each) => each !== null).join(' ')),
    totalMs === null ? '-' : String(Math.round(totalMs)),
    modelServed ?? modelAsked ?? '-',
    numberOf(request.inputTokens, about),
    numberOf(request.cachedInputTokens),
    numberOf(request.outputTokens, about),
    costText(costOf(request, request.inputTokens !== null), 5, about),
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
  const cost = costUsd === null ? '' : ` (${money(costUsd, 4)})`;
  return `${tokens} tokens no longer from the cache${cost}: ${lossTexts[cause]}`;
}

function toolOf({ name, bytes, hasFailed }: ToolResult): string {
  return `${name ?? 'a tool'} ${bytes} B${hasFailed ? ' failed' : ''}`;
}

const numberOf = (value: number | null, about = '') => (value === null ? '-' : `${about}${value}`);

function tokensOf({ inputTokens, outputTokens }: SessionSums): string {
  return `${inputTokens} + ${outputTokens}`;
}
