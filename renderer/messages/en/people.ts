/** Texts about people who sign in. */
import type { AuditActions } from './audit-actions.ts';
import { cassetteActions } from './cassettes.ts';
import { connectActions } from './connect.ts';
import { faultActions } from './faults.ts';
import { groupActions } from './groups.ts';
import { keyActions } from './keys.ts';
import { aliasActions } from './models.ts';
import { pricesActions } from './prices.ts';
import { providerActions } from './providers.ts';
import { requestActions } from './requests.ts';
import { sessionActions } from './sessions.ts';
import { settingsActions } from './settings.ts';
import { presetActions } from './team.ts';
import { captureActions } from './timed-capture.ts';

export const signIn = {
  title: 'Sign in to Sluice',
  titleEnded: 'You have been signed out',
  lead: 'Sign in with your organization’s account.',
  button: 'Sign in',
  noRole: 'You have no role in this Sluice yet. Ask an administrator to add a group of yours, then sign in again.',
  notAssigned:
    'Your organization has not assigned this Sluice to you, or has taken it back. Ask an administrator of your accounts.',
  tooMany: 'Too many attempts to sign in. Wait a minute, then try again.',
  failed: 'Signing in did not work. Try again. If it happens again, ask an administrator.',
  note: 'Your keys keep working, whether you are signed in or not.',
};

export const account = {
  label: 'Account',
  admin: 'Administrator',
  manager: (groups: string) => `Manager of ${groups}`,
  member: (groups: string) => `Member of ${groups}`,
  signOut: 'Sign out',
  open: 'Your account',
};

/** The list of people who sign in, for administrators. */
export const people = {
  title: 'People',
  tabs: { people: 'People', tokens: 'API tokens', audit: 'Audit' },
  tabsLabel: 'Show',
  search: 'Search people',
  you: 'you',
  noRole: 'No role now',
  disabled: 'disabled',
  signedIn: (ago: string) => `signed in ${ago}`,
  checked: (ago: string) => `groups read ${ago}`,
  unchecked: 'groups read again at the next sign-in',
  emptyTitle: 'Nobody has signed in yet',
  emptyNext: 'People appear here once they have signed in with your organization’s account.',
  noneFound: (search: string) => `Nobody matches “${search}”.`,
  showAll: (count: string) => `Show all ${count}`,
  signOut: (name: string) => `Sign out ${name} everywhere…`,
  signOutTitle: 'Sign out everywhere',
  signOutText: (name: string) => `All sessions and API tokens of ${name} end at once. Keys keep working.`,
  signOutConfirm: 'Sign out',
  signedOut: (name: string, count: number) =>
    `${name} is signed out: ${count} ${count === 1 ? 'session or API token' : 'sessions and API tokens'} ended.`,
  limit: (name: string) => `Limits of ${name}…`,
  limitTitle: (name: string) => `Limits of ${name}`,
  ownLimits: 'Limits of their own',
  ownLimitsHint: 'Otherwise the limits of everybody apply, if the settings have some.',
  limitHint: 'For all of their keys together, in addition to the limits of keys and groups.',
  limited: (name: string) => `The limits of ${name} are saved.`,
  revoke: (name: string) => `Revoke all access of ${name}…`,
  revokeTitle: 'Revoke all access',
  revokeText: (name: string) =>
    `All sessions and API tokens of ${name} end at once, and all of their keys are revoked. This cannot be undone; requests stay in the log.`,
  revokeConfirm: 'Revoke',
  revoked: (name: string, keys: number) =>
    `All access of ${name} is revoked, with ${keys} ${keys === 1 ? 'key' : 'keys'}.`,
};

/** Pushing of people and groups by the identity provider. */
export const scim = {
  title: 'SCIM',
  hint: 'Off. With SCIM the identity provider (Okta, Microsoft Entra) pushes people and groups: whoever leaves loses sessions, API tokens and keys at once.',
  pushed: (users: string, active: string, groups: string) =>
    `People: ${users}, of them active: ${active}. Groups: ${groups}.`,
  withoutExternalId: (count: string) =>
    `Active people without an externalId: ${count}. Nobody who signs in is one of them: push it as well.`,
  unknownPeople: (count: string) =>
    `People who have signed in, and whom SCIM does not know: ${count}. It cannot shut them out. If they are assigned, compare people.externalIdClaim with the externalId that is pushed.`,
  neverUsed: 'Never used yet.',
  used: (ago: string) => `Last used ${ago}.`,
  address: 'Address of SCIM',
  on: 'Switch on…',
  onTitle: 'Switch SCIM on',
  onText:
    'A token is made for the identity provider. From then on only people whom it has pushed can sign in, and administrators. Sessions that are open stay open.',
  deletes: ' What another identity provider has pushed is deleted.',
  onConfirm: 'Switch on',
  replace: 'New token…',
  replaceTitle: 'New token of SCIM',
  replaceText: 'The token before ends at once: the identity provider pushes nothing until it has the new one.',
  replaceConfirm: 'Make a new token',
  off: 'Switch off…',
  offTitle: 'Switch SCIM off',
  offText:
    'The token ends at once, and what was pushed counts no more. People whom it has disabled can sign in again if the identity provider lets them.',
  offConfirm: 'Switch off',
  made: 'Token of SCIM made',
  once: 'This is the token for the identity provider. Copy it now: only its hash is stored, so it cannot be shown again.',
  what: 'token',
};

export const tokens = {
  title: 'API tokens',
  hint: 'For pipelines and scripts that manage this Sluice. A token may do what you may, within its scopes. Programs that call models use a key instead.',
  create: 'New API token',
  createTitle: 'New API token',
  name: 'Name',
  namePlaceholder: 'pipeline',
  scopes: 'Scopes',
  scopeNames: { read: 'Read', keys: 'Keys', write: 'Write' },
  scopeHints: {
    read: 'See what you see: keys, requests, usage',
    keys: 'Create, change, rotate and revoke keys',
    write: 'Change everything that you may change',
  },
  expiry: 'Expires',
  days: (count: number) => (count === 365 ? 'in a year' : `in ${count} ${count === 1 ? 'day' : 'days'}`),
  submit: 'Create',
  created: 'API token created',
  once: (name: string) =>
    `This is the API token “${name}”. Copy it now: only its hash is stored, so it cannot be shown again.`,
  what: 'API token',
  of: (person: string) => `of ${person}`,
  createdAgo: (ago: string) => `created ${ago}`,
  expires: (day: string) => `expires ${day}`,
  expired: 'expired',
  emptyTitle: 'No API tokens',
  emptyNext: 'Create one for a pipeline or a script.',
  emptyNextOfAll: 'People create them under Account, or with “sluice token create”.',
  revoke: (name: string) => `Revoke ${name}…`,
  revokeTitle: 'Revoke API token',
  revokeText: (name: string) => `“${name}” stops working at once. This cannot be undone.`,
  revokeConfirm: 'Revoke',
};

export const peopleActions: AuditActions<'sign-in' | 'left' | 'token' | 'person' | 'scim' | 'team'> = {
  'sign-in': () => 'signed in',
  left: (keys) =>
    `has left, says the identity provider${keys && `; their keys in the configuration file still work: ${keys}`}`,
  'token.create': (target) => `created API token ${target}`,
  'token.revoke': (target) => `revoked API token ${target}`,
  'person.sign-out': (target) => `signed out ${target} everywhere`,
  'person.limit': (target) => `changed the limits of ${target}`,
  'person.revoke': (target) => `revoked all access of ${target}`,
  'scim.token': () => 'made a token of SCIM',
  'scim.off': () => 'switched SCIM off',
  'scim.user.create': (target) => `added ${target}`,
  'scim.user.update': (target) => `changed ${target}`,
  'scim.user.disable': (target) => `disabled ${target}`,
  'scim.user.enable': (target) => `enabled ${target} again`,
  'scim.user.delete': (target) => `deleted ${target}`,
  'scim.group.create': (target) => `added the group ${target}`,
  'scim.group.update': (target) => `changed the group ${target}`,
  'scim.group.delete': (target) => `deleted the group ${target}`,
  'team.join': () => 'began to join a team gateway',
  'team.finish-join': () => 'joined a team gateway',
  'team.leave': (target) => `left the team gateway ${target}`,
};

const actions: AuditActions = {
  ...providerActions,
  ...keyActions,
  ...captureActions,
  ...faultActions,
  ...peopleActions,
  ...requestActions,
  ...sessionActions,
  ...groupActions,
  ...pricesActions,
  ...cassetteActions,
  ...aliasActions,
  ...settingsActions,
  ...presetActions,
  ...connectActions,
};

export const audit = {
  actions,
  other: (action: string, target: string) => `ran the command ${action} ${target}`,
  machine: 'Admin token of the machine',
  filter: 'Person',
  everybody: 'Everybody',
  from: (address: string) => `from ${address}`,
  byToken: 'by API token',
  details: (count: number, number: string) => `${number} ${count === 1 ? 'change' : 'changes'}`,
  emptyTitle: 'No entries',
  emptyNext: 'Changes, sign-ins and readings of captures appear here. They are kept for 400 days.',
  newer: 'Newer',
  older: 'Older',
  pages: 'Pages',
};

/** The usage of the person signed in. */
export const ownUsage = {
  title: 'Your usage',
  hint: 'With keys of your own, for as long as the request log reaches back.',
  limits: 'Your limits, over all of your keys',
  whose: 'Whose usage',
  own: 'Yours',
  managed: 'Your groups',
  managedHint: 'With all keys of the groups you manage and with your own, for as long as the request log reaches back.',
  range: 'Time',
  chart: (metric: string) => `${metric}, by model`,
  emptyTitle: 'No requests in this period',
  emptyNext: 'Choose a longer period, or use one of your keys in a program.',
};

/** Joining and leaving a team's gateway. */
export const joining = {
  open: 'Join a team gateway…',
  title: 'Join a team gateway',
  text: 'Your team’s Sluice becomes a provider here, with a key of your own. Requests through it stay in your own request log as well.',
  url: 'Address of the gateway',
  urlPlaceholder: 'https://gateway.example',
  next: 'Next',
  confirmText: (host: string) => `Sign in to ${host} with your organization’s account, and confirm this code there:`,
  code: 'Code',
  openPage: 'Open the sign-in page',
  waiting: 'Waiting for you to confirm the code…',
  chooseText: 'You are in several groups. Which one should your key belong to?',
  group: 'Group',
  join: 'Join',
  again: 'Start over',
  presetText: (host: string) => `You have joined ${host}. It offers a team preset:`,
  withoutPreset: 'Continue without it',
  presetManaged: (host: string) =>
    `You have joined ${host}. Its team preset is not applied, since this machine has a preset set by its administrator.`,
  presetUnusable: (host: string) => `You have joined ${host}. Its team preset cannot be applied.`,
  tag: 'team gateway',
  leave: 'Leave…',
  leaveNamed: (name: string) => `Leave ${name}…`,
  leaveTitle: 'Leave this team gateway?',
  leaveText: (name: string, preset: string | null) =>
    `“${name}” is removed here, and your key and your sign-in there end.${preset === null ? '' : ` Its team preset “${preset}” no longer locks anything, and aliases from it that lead only there are removed.`} Requests that you sent stay in your request log.`,
  keyStays: (name: string) => `Your key at ${name} could not be revoked. Revoke it in the window there.`,
  leaveConfirm: 'Leave',
};
