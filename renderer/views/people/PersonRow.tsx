import { IconLogout, IconUserOff } from '@tabler/icons-react';
import type { PersonView } from '../../../server/contract/people-views.ts';
import { IconAction } from '../../components/buttons/IconAction.tsx';
import list from '../../components/lists/List.module.css';
import { RelativeTime } from '../../components/text/RelativeTime.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { describeRole } from '../../state/rights/describe-role.ts';
import { usePerson } from '../../state/rights/use-rights.ts';

interface PersonRowProps {
  person: PersonView;
  onLeave(how: 'sign-out' | 'revoke'): void;
}

export function PersonRow({ person, onLeave }: PersonRowProps) {
  const { people: names, account } = useMessages();
  const isSelf = usePerson()?.id === person.id;
  const { name, email, signedInAt } = person;
  return (
    <li className={list.plain}>
      <div>
        <div className={list.head}>
          <span className={list.name}>{name}</span>
          {isSelf && <span className={list.tag}>{names.you}</span>}
          {email !== null && email !== name && <span className={list.detail}>{email}</span>}
        </div>
        <div className={list.detail}>
          {describeRole(person, account) || names.noRole}
          {' · '}
          <RelativeTime moment={signedInAt} phrase={names.signedIn} />
        </div>
      </div>
      <div className={list.actions}>
        <IconAction label={names.signOut(name)} icon={<IconLogout size={16} />} onClick={() => onLeave('sign-out')} />
        <IconAction label={names.revoke(name)} icon={<IconUserOff size={16} />} onClick={() => onLeave('revoke')} />
      </div>
    </li>
  );
}
