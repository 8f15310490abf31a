import { Link } from 'wouter';
import type { GroupView } from '../../../server/contract/access-views.ts';
import list from '../../components/lists/List.module.css';
import { useLocalization } from '../../messages/use-messages.ts';
import classes from './Groups.module.css';

/** How many keys a group has, and the way to them. */
export function KeysLink({ group: { id, keyCount } }: { group: GroupView }) {
  const { messages, formats } = useLocalization();
  const text = messages.groups.keyCount(keyCount, formats.number(keyCount));
  if (keyCount === 0) return <span className={`${list.tag} ${classes.tag}`}>{text}</span>;
  return (
    <Link className={`${list.tag} ${classes.tag} ${classes.keys}`} href={`/keys?group=${encodeURIComponent(id)}`}>
      {text}
    </Link>
  );
}
