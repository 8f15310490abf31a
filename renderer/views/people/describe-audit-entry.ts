import type { AuditEntry } from '../../../server/contract/people-views.ts';
import type { Messages } from '../../messages/en/en.ts';

/** Describes an action in plain words. An entry written by another version of Sluice may name an unknown command. */
export function describeAuditEntry(
  { action, target, changes }: Pick<AuditEntry, 'action' | 'target' | 'changes'>,
  personNames: ReadonlyMap<string, string>,
  { actions, other }: Messages['audit'],
): string {
  const targetId =
    changes.length > 1 && action !== 'person.revoke'
      ? [...new Set(changes.map(({ name }) => name))].join(', ')
      : (target ?? '');
  const targetName = personNames.get(targetId) ?? targetId;
  const describe: ((target: string) => string) | undefined = Object.hasOwn(actions, action)
    ? actions[action as keyof typeof actions]
    : undefined;
  return (describe?.(targetName) ?? other(action, targetName)).trimEnd();
}
