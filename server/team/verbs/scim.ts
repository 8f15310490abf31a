/** `sluice scim`: whether the identity provider pushes people and groups to a team gateway, and its token for that. */
import type { Command } from 'commander';
import { type Examples, notes } from '../../cli/help.ts';
import { fact, moment } from '../../cli/shown.ts';
import { type ConfirmOptions, confirm, withConfirmation } from '../../cli/terminal.ts';
import type { Verbs } from '../../cli/verb.ts';
import type { ScimView } from '../../contract/people-views.ts';

const tokenHelp = `
Enter address and token at the identity provider: Okta (SCIM 2.0, HTTP header) or Microsoft Entra (tenant URL and
secret token). The token opens nothing but /scim/v2. Only its hash is stored, so it is shown once; a new one ends the
one before at once. From then on only people whom the identity provider has pushed, and administrators, can sign in.`;

export const scimExamples: Examples = {
  'scim status': ['sluice scim status', 'sluice scim status --gateway https://gateway.example --json'],
  'scim token': ['sluice scim token', 'sluice scim token --yes --gateway https://gateway.example'],
  'scim off': ['sluice scim off', 'sluice scim off --yes --gateway https://gateway.example'],
};

export function addScimVerbs(program: Command, { on }: Verbs): void {
  const scim = program
    .command('scim')
    .description('let the identity provider push people and groups to a team gateway (SCIM 2.0)');

  const status = scim.command('status').description('show whether SCIM is on, its address and when it was last used');
  on(status, async ({ control, output }) => {
    const view = await control.query({ type: 'scim' });
    output.show(view, factsOf(view));
  });

  const token = withConfirmation(
    scim
      .command('token')
      .description('make the token of SCIM, or replace it, and print it')
      .addHelpText('after', notes(tokenHelp)),
  );
  on<ConfirmOptions>(token, async ({ control, output, terminal }, _, options) => {
    const { isOn, deletesPushed, users, groups } = await control.query({ type: 'scim' });
    if (deletesPushed)
      output.note(`What another identity provider has pushed is deleted (people: ${users}, groups: ${groups}).`);
    const question = isOn
      ? 'Replace the token of SCIM? The one before ends at once.'
      : 'Switch SCIM on? Only people whom the identity provider pushes, and administrators, can sign in then.';
    await confirm(question, options, terminal);
    const result = await control.execute({ type: 'scim.token' });
    output.show(result, result.secret);
    if (!output.isJson) output.note(`For ${result.url}. It is shown only this once.`);
  });

  const off = withConfirmation(
    scim.command('off').description('end the token of SCIM; what was pushed counts no more until there is one again'),
  );
  on<ConfirmOptions>(off, async ({ control, output, terminal }, _, options) => {
    const warning = 'People whom it has disabled can sign in again if the identity provider lets them.';
    await confirm(`Switch SCIM off? ${warning}`, options, terminal);
    const result = await control.execute({ type: 'scim.off' });
    output.show(result, result.ended ? 'SCIM is off.' : 'SCIM was off.');
  });
}

function factsOf({ isOn, url, createdAt, usedAt, users, active, groups, withoutExternalId, unknownPeople }: ScimView) {
  const withoutId = `${withoutExternalId} of the active people have no externalId, so nobody who signs in is one of them`;
  const unknown = `${unknownPeople} who have signed in here: SCIM cannot shut them out (people.externalIdClaim)`;
  return [
    fact('SCIM', isOn ? 'on' : 'off: "sluice scim token" switches it on'),
    fact('address', url),
    ...(isOn
      ? [fact('token made', moment(createdAt)), fact('last used', usedAt === null ? 'never' : moment(usedAt))]
      : []),
    fact('people', `${users}, ${active} of them active`),
    fact('groups', `${groups}`),
    ...(withoutExternalId > 0 ? [fact('without id', withoutId)] : []),
    ...(unknownPeople > 0 ? [fact('unknown', unknown)] : []),
  ];
}
