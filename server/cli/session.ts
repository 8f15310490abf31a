/** `sluice sessions` and `sluice session`: the turns of an agent or a conversation, and their cost. */
import { type Command, InvalidArgumentError } from 'commander';
import type { SessionFilterInput } from '../contract/queries.ts';
import { type RequestText, type SessionView, titleOf } from '../contract/session-views.ts';
import type { Control } from './control.ts';
import { describeSession, sessionColumns, sessionRow, type TitledSession } from './describe-session.ts';
import type { Examples } from './examples.ts';
import { CliError } from './programs/exit-codes.ts';
import { table } from './shown.ts';
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
    .option('--client <user-agent>', 'of this client, as its user-agent names it')
    .option('--since <when>', 'active since then: a date, or a time span such as 2h', parsePastTime)
    .option('--running', 'with a request that has not ended')
    .option('--stopped', 'whose requests are refused: stopped, or over their budget')
    .option('-n, --limit <number>', 'the number of sessions', parseLimit, 20);
  on<ListOptions>(list, async ({ control, output }, _, options) => {
    const { sessions } = await control.query({ type: 'sessions', filter: filterOf(options), limit: options.limit });
    const titled = await withTitles(sessions, control);
    const rows = titled.map(sessionRow);
    output.show(titled, table(sessionColumns, rows, 'There are no such sessions.'));
  });

  const show = session.command('show').argument('<id>').description('show its turns and requests');
  on(show, async ({ control, output }, [id = '']) => {
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
