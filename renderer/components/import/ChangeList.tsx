import type { AuditChange } from '../../../server/contract/people-views.ts';
import { useMessages } from '../../messages/use-messages.ts';
import classes from './ChangeList.module.css';

const kindClasses: Record<AuditChange['kind'], string | undefined> = {
  added: classes.added,
  removed: classes.removed,
  changed: classes.changed,
};

/** All differences between two configurations, or of what SCIM has pushed. */
export function ChangeList({ changes }: { changes: readonly AuditChange[] }) {
  const { settings: names, labelled } = useMessages();
  return (
    <ul className={classes.changes}>
      {changes.map(({ part, name, kind, fields }) => (
        <li key={`${part} ${name}`}>
          <p className={classes.change}>
            <span className={kindClasses[kind]}>{names.changeKinds[kind]}</span>{' '}
            <span>
              {names.changeParts[part]} <code>{name}</code>
            </span>
          </p>
          {fields.map((field) => (
            <p key={field.name} className={classes.difference}>
              {field.name !== name && labelled(field.name, '')}
              {kind !== 'added' && (
                <>
                  <del>{field.before ?? names.absent}</del> →{' '}
                </>
              )}
              <ins>{field.after ?? names.absent}</ins>
            </p>
          ))}
        </li>
      ))}
    </ul>
  );
}
