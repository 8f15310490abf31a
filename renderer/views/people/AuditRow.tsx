import type { AuditEntry } from '../../../server/contract/people-views.ts';
import { ChangeList } from '../../components/import/ChangeList.tsx';
import list from '../../components/lists/List.module.css';
import type { Messages } from '../../messages/en/en.ts';
import { useLocalization } from '../../messages/use-messages.ts';
import classes from './People.module.css';

interface AuditRowProps {
  entry: AuditEntry;
  /** By id. */
  personNames: ReadonlyMap<string, string>;
}

/** Who did what and when, in one line; the changes can be unfolded. */
export function AuditRow({ entry, personNames }: AuditRowProps) {
  const { messages, formats } = useLocalization();
  const { audit: names } = messages;
  const { at, personId, personName, address, tokenId, changes } = entry;
  const author = personId === null ? names.machine : (personName ?? personId);
  // A single change without fields is already described by the line itself.
  const hasDetails = changes.length > 1 || changes.some(({ fields }) => fields.length > 0);
  const from = [
    ...(address === null ? [] : [names.from(address)]),
    ...(tokenId === null ? [] : [`${names.byToken} ${tokenId}`]),
  ];
  return (
    <li className={list.plain}>
      <div>
        <span className={list.name}>{author}</span> {describeAuditEntry(entry, personNames, names)}
        {from.length > 0 && <div className={list.detail}>{from.join(' · ')}</div>}
      </div>
      <time className={classes.time} dateTime={new Date(at).toISOString()} title={formats.fullMoment(at)}>
        {formats.dayAndClock(at)}
      </time>
      {hasDetails && (
        <details className={classes.details}>
          <summary>{names.details(changes.length, formats.number(changes.length))}</summary>
          <div className={classes.changes}>
            <ChangeList changes={changes} />
          </div>
        </details>
      )}
    </li>
  );
}

/** Describes an action in plain words. An entry written by another version of Sluice may name an unknown command. */
function describeAuditEntry(
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
