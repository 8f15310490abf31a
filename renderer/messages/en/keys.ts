import type { AuditActions } from './audit-actions.ts';

export const keys = {
  lead: 'Programs use Sluice with a key. Give each program its own to see who used what.',
  title: 'Keys',
  create: 'New key',
  switch: (name: string) => `Enable key ${name}`,
  neverUsed: 'never used',
  used: (ago: string) => `used ${ago}`,
  expires: (moment: string) => `expires ${moment}`,
  expired: 'expired',
  group: (group: string) => `group ${group}`,
  more: (name: string) => `More for ${name}`,
  reveal: 'Show secret',
  edit: (name: string) => `Change ${name}`,
  editTitle: 'Change this key',
  rotate: 'Rotate…',
  rotateTitle: 'Rotate this key?',
  rotateText: (name: string) =>
    `The present secret of “${name}” stops working at once; programs are refused until they get the new one.`,
  rotateConfirm: 'Rotate',
  rotated: 'New secret of the key',
  snippetsFor: 'Use it in',
  snippets: { env: 'Shell', curl: 'curl', python: 'Python', node: 'Node' },
  revoke: 'Revoke…',
  revokeTitle: 'Revoke this key?',
  revokeText: (name: string) =>
    `Programs that use the key “${name}” are refused from their next request on. This cannot be undone; its requests stay in the request log.`,
  revokeConfirm: 'Revoke',
  emptyTitle: 'No keys',
  emptyNext: 'A program needs a key to use Sluice. Create one, then copy its secret.',
  suffixHint: 'The last four characters of its secret',
  secretOf: (name: string) => `the secret of ${name}`,
  captured: 'captured',
  ownAliases: 'Aliases of this key alone',
  ownAliasesHint: 'They stand in place of the aliases of the same name that hold for all keys.',
  removeOwnAlias: (alias: string) => `Remove ${alias}, as for all keys`,
  ownAliasesTag: 'aliases of its own',
  /** Title of the part with rarely needed settings. */
  capture: 'Capture its requests',
  requests: 'requests',
  requestsOf: (name: string) => `Requests of ${name}`,
  previousUntil: (moment: string) => `old secret works until ${moment}`,
  grace: 'The old secret stops working',
  graces: { 0: 'At once', 1: 'In 1 hour', 24: 'In 24 hours', 168: 'In 7 days' },
  rotateTextGrace: (name: string) =>
    `“${name}” gets a new secret now. Until the old one stops working, clients can use either.`,
  switchOff: 'Switch off instead',
};

export const createKey = {
  title: 'New key',
  name: 'Name',
  nameHint: 'The program or person that uses it',
  namePlaceholder: 'my-editor',
  group: 'Group',
  expiry: 'Expires',
  expiryNever: 'Never',
  expiryDays: (days: number, count: string) => `In ${count} ${days === 1 ? 'day' : 'days'}`,
  models: 'Models',
  modelsHint: 'Names or patterns such as gpt-*; press Enter after each',
  modelsAll: 'All that the group allows',
  keepSecret: 'Keep the secret so that it can be shown again',
  submit: 'Create',
};

export const secret = {
  created: 'Key created',
  revealed: 'Secret of the key',
  once: (name: string) => `This is the secret of “${name}”. Copy it now: it is not kept and cannot be shown again.`,
  kept: (name: string) => `This is the secret of “${name}”. It is kept in the secret store and can be shown again.`,
  what: 'secret',
};

export const keyActions: AuditActions<'key'> = {
  'key.create': (target) => `created key ${target}`,
  'key.update': (target) => `changed key ${target}`,
  'key.rotate': (target) => `rotated key ${target}`,
  'key.revoke': (target) => `revoked key ${target}`,
  'key.reveal': (target) => `looked at the secret of key ${target}`,
};
