/** `sluice token`: API tokens, which pipelines and scripts use at a gateway with sign-in. */

import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Control } from '../../cli/control.ts';
import { type Examples, notes } from '../../cli/help.ts';
import { type Cell, localTime, moment, optional, table } from '../../cli/shown.ts';
import { type ConfirmOptions, confirm, withConfirmation } from '../../cli/terminal.ts';
import type { Verbs } from '../../cli/verb.ts';
import { type TokenScope, tokenScopes } from '../../contract/people.ts';
import type { PersonView, TokenView } from '../../contract/people-views.ts';

interface CreateOptions {
  scope: TokenScope[];
  days: number;
}

const scopesHelp = `
Scopes:
  read    queries and exports: "key list", "log", "usage"
  keys    make, change, rotate and revoke keys
  write   every command that its person may give

A token may do what its person may, within its scopes. Only its hash is stored, so the secret is shown once.`;

const maxDays = 366;

export const tokenExamples: Examples = {
  'token create': [
    'sluice token create pipeline --scope read write --days 30 --gateway https://gateway.example',
    'sluice token create laptop --scope keys --gateway https://gateway.example',
  ],
  'token list': [
    'sluice token list --gateway https://gateway.example',
    'sluice token list --gateway https://gateway.example --json',
  ],
  'token revoke': [
    'sluice token revoke tok_0123456789abcdef --gateway https://gateway.example',
    'sluice token revoke tok_0123456789abcdef --yes --gateway https://gateway.example',
  ],
};

export function addTokenVerbs(program: Command, { on }: Verbs): void {
  const token = program.command('token').description('manage API tokens, for pipelines that use a team gateway');
  const create = token
    .command('create')
    .argument('<name>', 'what you will recognise it by')
    .description('create an API token of your own and print its secret')
    .addOption(new Option('--scope <scopes...>', 'what it may do').choices(tokenScopes).makeOptionMandatory())
    .option('--days <number>', 'how long it is valid', parseDays, 90)
    .addHelpText('after', notes(scopesHelp));
  on<CreateOptions>(create, async ({ control, output }, [name = ''], { scope, days }) => {
    const scopes = [...new Set(scope)];
    const result = await control.execute({ type: 'token.create', name, scopes, days });
    output.show(result, result.secret);
    if (output.isJson) return;
    output.note(`API token "${result.id}" is valid until ${localTime(result.expiresAt)}. It is shown only this once.`);
  });

  const list = token.command('list').description('list your API tokens; for an administrator, those of everybody');
  on(list, async ({ control, output }) => {
    const tokens = await control.query({ type: 'tokens' });
    const names = tokens.length === 0 ? new Map<string, string>() : await namesOf(control);
    const rows = tokens.map((each) => row(each, names));
    output.show(
      tokens,
      table(['id', 'name', 'person', 'scopes', optional('created'), 'expires'], rows, 'There are no API tokens.'),
    );
  });

  const revoke = withConfirmation(
    token.command('revoke').argument('<id>').description('end an API token at once and for good'),
  );
  on<ConfirmOptions>(revoke, async ({ control, output, terminal }, [id = ''], options) => {
    await confirm(`Revoke API token "${id}"? What uses it stops working.`, options, terminal);
    output.show(await control.execute({ type: 'token.revoke', id }), `API token "${id}" is revoked.`);
  });
}

/** Names by id. People who are not administrators see only their own tokens and may not list other people. */
async function namesOf(control: Control): Promise<Map<string, string>> {
  const { person } = await control.query({ type: 'who-am-i' });
  const people: Pick<PersonView, 'id' | 'name'>[] =
    person && !person.isAdmin ? [person] : await control.query({ type: 'people' });
  return new Map(people.map(({ id, name }) => [id, name]));
}

function row(
  { id, name, personId, scopes, createdAt, expiresAt }: TokenView,
  names: ReadonlyMap<string, string>,
): Cell[] {
  const person = names.get(personId) ?? personId;
  return [id, name, person, scopes.join(', '), moment(createdAt), moment(expiresAt)];
}

function parseDays(text: string): number {
  const days = Number(text);
  if (Number.isInteger(days) && days >= 1 && days <= maxDays) return days;
  throw new InvalidArgumentError(`Give a number of days from 1 to ${maxDays}.`);
}
