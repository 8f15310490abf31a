/** The permission that each command requires. A command without an entry does not compile. Pure. */
import type { CommandMap, CommandResults, CommandType } from '../../contract/commands.ts';
import type { KeyRight } from '../../contract/key-rights.ts';
import type { Visibility } from './visibility.ts';

/**
 * The role or ownership that a command requires. Those about a key or group also require that it exists; an object that
 * is invisible to the person is refused like one that does not exist.
 */
export type Need =
  | { is: 'everyone' }
  | { is: 'admin' }
  | { is: 'self'; person: string }
  /** Only the holder of the machine's admin token; no person. */
  | { is: 'local' }
  | { is: 'manager-of-group'; group: string }
  /** May have their own key in the group; `own: false`: may create keys in it that belong to no person. */
  | { is: 'key-in-group'; group: string; own: boolean | undefined }
  | { is: KeyRight; key: string }
  /** The owner of the key that was used, or a manager of its group. */
  | { is: 'session'; id: string }
  /** Whoever may see the request. */
  | { is: 'request'; id: string };

const admin: readonly Need[] = [{ is: 'admin' }];
const everyone: readonly Need[] = [{ is: 'everyone' }];
const local: readonly Need[] = [{ is: 'local' }];

interface Rule<T extends CommandType> {
  needs(command: CommandMap[T]): readonly Need[];
  /** The part of the result that a person may see; absent: all of it. */
  keep?(result: CommandResults[T], visibility: Visibility): CommandResults[T];
}

type Rules = { readonly [T in CommandType]: Rule<T> };

export const commandRules: Rules = {
  'provider.add': { needs: () => admin },
  'provider.try': { needs: () => admin },
  'provider.update': { needs: () => admin },
  'provider.remove': { needs: () => admin },
  'provider.set-enabled': { needs: () => admin },
  'provider.refresh-models': { needs: () => admin },
  'provider.reset-health': { needs: () => admin },
  'credential.set': { needs: () => admin },
  'credential.remove': { needs: () => admin },
  'key.create': { needs: needsOfNewKey },
  'key.update': { needs: needsOfKeyChanges },
  'key.rotate': { needs: ({ id }) => [{ is: 'secret-of-key', key: id }] },
  'key.revoke': { needs: ({ id }) => [{ is: 'owner-or-manager-of-key', key: id }] },
  'key.reveal': { needs: ({ id }) => [{ is: 'secret-of-key', key: id }] },
  'capture.start': {
    needs: needsOfScope,
    keep: ({ timed }, visibility) => ({ timed: timed.filter(isVisibleScope(visibility)) }),
  },
  'capture.stop': {
    needs: needsOfScope,
    keep: ({ timed }, visibility) => ({ timed: timed.filter(isVisibleScope(visibility)) }),
  },
  'faults.start': {
    needs: needsOfScope,
    keep: ({ faults }, visibility) => ({ faults: faults.filter(isVisibleScope(visibility)) }),
  },
  'faults.stop': {
    needs: needsOfScope,
    keep: ({ faults }, visibility) => ({ faults: faults.filter(isVisibleScope(visibility)) }),
  },
  // Looked up among the person's own, except for an administrator.
  'token.create': { needs: () => everyone },
  'token.revoke': { needs: () => everyone },
  'person.sign-out': { needs: ({ id }) => [{ is: 'self', person: id }] },
  'person.limit': { needs: () => admin },
  'person.revoke': { needs: () => admin },
  'scim.token': { needs: () => admin },
  'scim.off': { needs: () => admin },
  'session.stop': { needs: ({ id }) => [{ is: 'session', id }] },
  'session.resume': { needs: ({ id }) => [{ is: 'session', id }] },
  'request.pin': { needs: ({ id }) => [{ is: 'request', id }] },
  'request.unpin': { needs: ({ id }) => [{ is: 'request', id }] },
  // Only an administrator may decide what a group may use: its managers could raise their own budget.
  'group.put': { needs: () => admin },
  'group.remove': { needs: () => admin },
  'prices.check': { needs: () => admin },
  'prices.apply': { needs: () => admin },
  'cache.clear': { needs: ({ group }) => needsOfScope({ group }) },
  'cassette.rewind': { needs: () => admin },
  'alias.put': { needs: needsOfAlias },
  'alias.remove': { needs: needsOfAlias },
  'settings.update': { needs: () => admin },
  'config.import': { needs: () => admin },
  'config.adopt': { needs: () => admin },
  'config.apply': { needs: () => admin },
  'team-preset.apply': { needs: () => admin },
  'team-preset.leave': { needs: () => admin },
  // These write into the home folder of the user who runs the program.
  'connect.apply': { needs: () => local },
  'connect.undo': { needs: () => local },
  // These sign in as the person at this machine, and store the result in its keychain.
  'team.join': { needs: () => local },
  'team.finish-join': { needs: () => local },
  'team.leave': { needs: () => local },
  // The address grants access to anyone who has it.
  'window.create-address': { needs: () => local },
  'window.sign-out-everywhere': { needs: () => admin },
};

/**
 * A key that a member creates is always their own. The program chooses its id, because "taken" would disclose keys of
 * other groups; a cassette would be a folder on the server.
 */
function needsOfNewKey({ id, group, own, capture, faults, cassette }: CommandMap['key.create']): readonly Need[] {
  return [
    { is: 'key-in-group', group, own },
    ...(capture || faults ? [{ is: 'manager-of-group', group } as const] : []),
    ...(id === undefined && cassette === undefined ? [] : admin),
  ];
}

/** The owner may only change the name, and so cannot undo what a manager has set. */
function needsOfKeyChanges({ id, changes }: CommandMap['key.update']): readonly Need[] {
  const { name: _, ...others } = changes;
  const isNameOnly = Object.keys(others).length === 0;
  return [
    { is: isNameOnly ? 'owner-or-manager-of-key' : 'manager-of-key', key: id },
    ...(changes.group === undefined ? [] : [{ is: 'manager-of-group', group: changes.group } as const]),
    ...(changes.cassette === undefined ? [] : admin),
  ];
}

/** The aliases of a key lead only where the key may go anyway. */
function needsOfAlias({ key }: { key?: string | undefined }): readonly Need[] {
  return key === undefined ? admin : [{ is: 'owner-or-manager-of-key', key }];
}

function needsOfScope({ group, key }: { group?: string | undefined; key?: string | undefined }): readonly Need[] {
  if (group !== undefined) return [{ is: 'manager-of-group', group }];
  return key === undefined ? admin : [{ is: 'manager-of-key', key }];
}

/** Whether something that was started for a key, a group or everything is visible to the person. */
export function isVisibleScope(visibility: Visibility): (started: { kind: string; id: string | null }) => boolean {
  return ({ kind, id }) =>
    visibility.isAll ||
    (id !== null && (kind === 'key' ? visibility.keys.has(id) : kind === 'group' && visibility.groups.has(id)));
}
