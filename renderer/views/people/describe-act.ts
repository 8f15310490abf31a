import type { AuditEntry } from '../../../server/contract/people-views.ts';
import type { Messages } from '../../messages/en.ts';

/** What was done, in plain words. An entry of another version of Sluice may name a command that this one does not know. */
export function describeAct(
  { action, target, changes }: Pick<AuditEntry, 'action' | 'target' | 'changes'>,
  personNames: ReadonlyMap<string, string>,
  { actions, other }: Messages['audit'],
): string {
  const about = changes.length > 1 ? [...new Set(changes.map(({ name }) => name))].join(', ') : (target ?? '');
  const named = personNames.get(about) ?? about;
  const describe: ((target: string) => string) | undefined = Object.hasOwn(actions, action)
    ? actions[action as keyof typeof actions]
    : undefined;
  return (describe?.(named) ?? other(action, named)).trimEnd();
}
