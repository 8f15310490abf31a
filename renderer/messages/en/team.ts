import type { LinkRefusal } from '../../../server/contract/sluice-link.ts';
import type { AuditActions } from './audit-actions.ts';

/** Team presets: their changes and locks. */
export const team = {
  title: 'Team preset',
  part: 'Team',
  hint: 'A team can hand out providers, aliases, groups and settings in a file or a link. You see every change before it is made, and add only your credentials.',
  none: 'No team preset is active.',
  invite: {
    title: 'Invite people',
    alone:
      'People sign in to a Sluice that they share, each with keys and budgets of their own. It needs a public address and your identity provider, in the section “people” of its configuration (docs/teams.md). Start it like this:',
    command: 'command',
    shared: 'Send people this address. They sign in, make a key in a group that is theirs, and connect their tools.',
    address: 'address',
    open: 'Open People',
  },
  sources: {
    'built-in': 'Built into this program.',
    policy: 'Installed on this machine by its administrator.',
    imported: 'Imported here.',
  },
  fromGateway: (host: string) => `Applied when ${host} was joined.`,
  by: (organisation: string) => `by ${organisation}`,
  version: (version: string) => `version ${version}`,
  ask: (contact: string) => `Questions: ${contact}`,
  choose: 'Import preset…',
  paste: 'Paste preset…',
  pasteTitle: 'Paste a team preset',
  pasteLabel: 'The preset’s text, or a link that begins with sluice://',
  pasteNext: 'Review changes',
  leave: 'Leave…',
  leaveTitle: 'Leave this team preset?',
  leaveText: (name: string) =>
    `“${name}” then no longer locks anything. What it added stays, and you can change it. To rejoin, import it again.`,
  leaveGatewayText: (name: string) =>
    `“${name}” then no longer locks anything. What it added stays, and you can change it. To rejoin, leave the team gateway and join it again.`,
  leaveConfirm: 'Leave',
  link: 'The link',
  pasted: 'The pasted text',
  unreadable: (what: string) => `${what} does not contain a readable team preset. Nothing was changed.`,
  /** Links of Sluice that show nothing. */
  refusedLinks: {
    preset: 'The link does not contain a readable team preset. Nothing was changed.',
    secret:
      'The link contains a key or password. Sluice takes none from a link, since anyone who saw the link has it. Nothing was changed; enter it in Sluice yourself, and replace it if the link was sent around.',
    unknown: 'Sluice does not know this link. Nothing was changed.',
  } satisfies Record<LinkRefusal, string>,
  changesTitle: 'This would change',
  nothing: 'Everything it sets is already in place.',
  warning: 'Apply it only if it comes from your team: your requests go to the addresses named here.',
  anewTitle: 'These credentials would be deleted',
  anewText: 'Their provider’s address would change, so they have to be entered again:',
  lockTitle: 'This would be locked',
  lockText: 'until you leave the preset in Settings:',
  apply: 'Apply',
  applied: (name: string) => `“${name}” is applied.`,
  complete: 'All the credentials it needs are stored.',
  missing: 'Now enter your credentials:',
  enter: 'Enter',
  enterNamed: (provider: string) => `Enter the credential for ${provider}`,
  entered: 'Entered',
  problemTitle: 'It could not be imported',
  setBy: (organisation: string) => `Set by ${organisation}`,
  lockReason: 'A team preset has locked this, so it cannot be changed here.',
};

export const presetActions: AuditActions<'team-preset'> = {
  'team-preset.apply': () => 'applied a team preset',
  'team-preset.leave': () => 'left a team preset',
};
