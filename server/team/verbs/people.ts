/** `sluice people` and `sluice audit`: who has signed in to a team gateway, and what they have changed. */
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Examples } from '../../cli/help.ts';
import { collectLimits, type LimitsChoice, limitCells, limitHelp } from '../../cli/limit-option.ts';
import type { Output } from '../../cli/output.ts';
import { findPerson } from '../../cli/role.ts';
import { type Cell, followed, moment, optional, table } from '../../cli/shown.ts';
import { type ConfirmOptions, confirm, withConfirmation } from '../../cli/terminal.ts';
import { writeText } from '../../cli/transfer.ts';
import type { Verbs } from '../../cli/verb.ts';
import type { Person } from '../../contract/people.ts';
import type { AuditEntry, PersonView } from '../../contract/people-views.ts';
import type { QueryResults } from '../../contract/queries.ts';

interface AuditOptions {
  person?: string;
  local?: boolean;
  limit: number;
  before?: number;
  export?: string;
  follow?: boolean;
}

const maxEntries = 1_000;

export const peopleExamples: Examples = {
  'people list': ['sluice people list', 'sluice people list --gateway https://gateway.example'],
  'people sign-out': [
    'sluice people sign-out mia@acme.example',
    'sluice people sign-out mia@acme.example --yes --gateway https://gateway.example',
  ],
  'people limit': [
    'sluice people limit mia@acme.example requests=60,usd=5/day',
    'sluice people limit mia@acme.example default',
  ],
  'people revoke': [
    'sluice people revoke mia@acme.example',
    'sluice people revoke mia@acme.example --disable --yes --gateway https://gateway.example',
  ],
  audit: [
    'sluice audit',
    'sluice audit --person mia@acme.example --limit 20',
    'sluice audit --follow --json',
    'sluice audit --export audit.jsonl',
  ],
};

export function addPeopleVerbs(program: Command, { on }: Verbs): void {
  const people = program
    .command('people')
    .description('list people who have signed in to a team gateway, sign them out, or revoke all that they have');
  on(people.command('list').description('list people and their roles'), async ({ control, output }) => {
    const all = await control.query({ type: 'people' });
    const head = [
      'id',
      'name',
      optional('e-mail'),
      'role',
      'groups',
      'last sign-in',
      optional('groups read'),
      optional('limits'),
    ];
    output.show(all, table(head, all.map(personRow), 'Nobody has signed in yet.'));
  });

  const signOut = withConfirmation(
    people
      .command('sign-out')
      .argument('<person>', 'an id, e-mail address or name')
      .description('end all sessions and API tokens of a person; their keys keep working'),
  );
  on<ConfirmOptions>(signOut, async ({ control, output, terminal }, [nameOrId = ''], options) => {
    const { id, name } = await findPerson(control, nameOrId);
    await confirm(`End all sessions and API tokens of ${name}?`, options, terminal);
    const result = await control.execute({ type: 'person.sign-out', id });
    output.show(result, `${name} is signed out everywhere (${result.ended} sessions and API tokens).`);
  });

  addLimit(people, on);
  addRevoke(people, on);
  addAudit(program, on);
}

function addLimit(people: Command, on: Verbs['on']): void {
  const limit = people
    .command('limit')
    .argument('<person>', 'an id, e-mail address or name')
    .argument('<limits...>', `${limitHelp}; default: as everybody`, (text: string, before: LimitsChoice) =>
      text === 'default' ? 'none' : collectLimits(text, before),
    )
    .description('limit what a person may use with all of their keys together');
  on(limit, async ({ control, output }, [nameOrId = '', ...texts]) => {
    const isDefault = texts.join() === 'default';
    const choice = isDefault ? null : collectLimits(texts.join(','));
    const { id, name } = await findPerson(control, nameOrId);
    const limits = choice === 'none' ? {} : choice;
    const result = await control.execute({ type: 'person.limit', id, limits });
    output.show(result, isDefault ? `${name} has the limits of everybody.` : `${name} has limits of their own.`);
  });
}

function addRevoke(people: Command, on: Verbs['on']): void {
  const revoke = withConfirmation(
    people
      .command('revoke')
      .argument('<person>', 'an id, e-mail address or name')
      .description('end all sessions and API tokens of a person, and revoke all of their keys')
      .option('--disable', 'disable the keys instead, so that they can be enabled again'),
  );
  on<ConfirmOptions & { disable?: boolean }>(
    revoke,
    async ({ control, output, terminal }, [nameOrId = ''], options) => {
      const { id, name } = await findPerson(control, nameOrId);
      const keys = options.disable ? 'disable' : 'revoke';
      await confirm(`End all sessions and API tokens of ${name}, and ${keys} all of their keys?`, options, terminal);
      const result = await control.execute({ type: 'person.revoke', id, keys });
      const count = `${result.keys.length} ${result.keys.length === 1 ? 'key is' : 'keys are'}`;
      output.show(result, `${name} has no session or API token any more, and ${count} ${keys}d.`);
    },
  );
}

function addAudit(program: Command, on: Verbs['on']): void {
  const audit = program
    .command('audit')
    .description('show who has changed what; with --json, every changed field')
    .addOption(
      new Option('--person <person>', 'changes of this person: an id, e-mail address or name').conflicts('local'),
    )
    .option('--local', 'changes made with the admin token of the machine')
    .option('-n, --limit <number>', 'the number of entries', parseLimit, 50)
    .option('--before <number>', 'entries before this one: the "next" of the page before', parseEntry)
    .addOption(
      new Option('--export <file>', 'write all entries to a file, as JSON lines; "-" is stdout').conflicts('limit'),
    )
    .addOption(
      new Option('-f, --follow', 'keep printing new entries, of all replicas; with --json, one a line').conflicts([
        'before',
        'export',
      ]),
    );
  on<AuditOptions>(audit, async ({ control, output, terminal }, _, options) => {
    const { person, local, limit, before, export: file, follow } = options;
    const personId = local ? null : person === undefined ? undefined : (await findPerson(control, person)).id;
    const asked = { type: 'audit' as const, ...(personId !== undefined && { personId }) };
    if (file !== undefined) {
      const lines = auditLines((next) => control.query({ ...asked, limit: maxEntries, ...next }), before ?? null);
      if (file === '-') return pipeline(lines, terminal.stdout, { end: false });
      await writeText(file, lines);
      return output.show({ file }, `Written to ${file}.`);
    }
    const page = await control.query({ ...asked, limit, ...(before !== undefined && { before }) });
    if (follow) return await printEach((next) => control.query({ ...asked, ...next }), page.entries, output);
    output.show(page, table(entryHead, page.entries.map(entryRow), 'There are no such entries.'));
    if (page.next !== null && !output.isJson) output.note(`Earlier ones: --before ${page.next}`);
  });
}

const entryHead = ['time', 'who', optional('from'), 'action', 'target', optional('changed')];
/** As wide as most are. */
const usualEntry: Cell[] = ['2026-11-20 13:39:05', 'x'.repeat(20), 'x'.repeat(15), 'x'.repeat(18), 'x'.repeat(20), ''];

/** Those of the page and then, until the command is ended, new ones, the earliest first. */
async function printEach(read: ReadAudit, page: readonly AuditEntry[], output: Output): Promise<void> {
  const print = (entries: readonly AuditEntry[], hasHead: boolean) => {
    if (output.isJson) for (const entry of entries) output.showOne(entry, '');
    else output.show(entries, followed(entryHead, entries.map(entryRow), { usual: usualEntry, hasHead }));
  };
  print(page.toReversed(), true);
  for await (const entries of newEntries(read, page)) print(entries, false);
}

const followEveryMs = 1_000;
/** An entry with a lower number may be stored later, by another replica. */
const lateEntries = 100;

async function* newEntries(
  read: ReadAudit,
  page: readonly AuditEntry[],
): AsyncGenerator<AuditEntry[], void, undefined> {
  const seen = new Set(page.map(({ seq }) => seq));
  const first = page.at(-1)?.seq ?? 0;
  let latest = page[0]?.seq ?? 0;
  for (;;) {
    await wait(followEveryMs);
    const since = Math.max(first, latest - lateEntries);
    const entries = (await entriesSince(read, since)).filter(({ seq }) => !seen.has(seq));
    for (const { seq } of entries) seen.add(seq);
    for (const seq of seen) if (seq < since) seen.delete(seq);
    latest = Math.max(latest, ...seen);
    if (entries.length > 0) yield entries;
  }
}

/** The earliest first. */
async function entriesSince(read: ReadAudit, since: number): Promise<AuditEntry[]> {
  const found: AuditEntry[] = [];
  let before: number | null | undefined;
  while (before !== null) {
    const { entries, next }: QueryResults['audit'] = await read({ limit: maxEntries, ...(before && { before }) });
    const later = entries.filter(({ seq }) => seq >= since);
    found.push(...later);
    before = later.length < entries.length ? null : next;
  }
  return found.reverse();
}

type ReadAudit = (page: { limit: number; before?: number }) => Promise<QueryResults['audit']>;

/** All entries, latest first, with only one page in memory. */
async function* auditLines(
  read: (page: { before?: number }) => Promise<QueryResults['audit']>,
  start: number | null,
): AsyncGenerator<string, void, undefined> {
  let before = start;
  do {
    const { entries, next } = await read(before === null ? {} : { before });
    yield entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
    before = next;
  } while (before !== null);
}

function personRow(person: PersonView): Cell[] {
  const { id, name, email, signedInAt, checkedAt, isChecked } = person;
  return [
    id,
    name,
    email ?? '',
    roleOf(person),
    groupsOf(person).join(', '),
    moment(signedInAt),
    isChecked ? moment(checkedAt) : 'at sign-in only',
    describeLimits(person),
  ];
}

const describeLimits = ({ limitUse }: PersonView) =>
  limitUse.map((meter) => limitCells(meter).slice(0, 2).join(': ')).join(', ');

function roleOf({ isAdmin, manages, memberOf }: Person): string {
  if (isAdmin) return 'admin';
  if (manages.length > 0) return 'manager';
  return memberOf.length > 0 ? 'member' : 'none';
}

const groupsOf = ({ manages, memberOf }: Person) => [...new Set([...manages, ...memberOf])];

function entryRow({ at, personName, address, action, target, changes }: AuditEntry): Cell[] {
  const fields = changes.flatMap((change) => (change.kind === 'changed' ? change.fields.map(({ name }) => name) : []));
  const changed = fields.length === 0 ? [...new Set(changes.map(({ kind }) => kind))] : [...new Set(fields)];
  return [moment(at), personName ?? 'admin token', address ?? '', action, target ?? '', changed.join(', ')];
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= maxEntries) return limit;
  throw new InvalidArgumentError(`Give a number from 1 to ${maxEntries}.`);
}

function parseEntry(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give the number of an entry.');
}
