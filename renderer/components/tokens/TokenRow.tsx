import { IconTrash } from '@tabler/icons-react';
import type { TokenView } from '../../../server/contract/people-views.ts';
import { useLocalization } from '../../messages/use-messages.ts';
import { useNow } from '../../state/window/use-now.ts';
import { IconAction } from '../buttons/IconAction.tsx';
import list from '../lists/List.module.css';
import { RelativeTime } from '../text/RelativeTime.tsx';

interface TokenRowProps {
  token: TokenView;
  /** The owner's name; null if it is the person's own token. */
  person: string | null;
  onRevoke(): void;
}

export function TokenRow({ token, person, onRevoke }: TokenRowProps) {
  const { messages, formats } = useLocalization();
  const { tokens: names } = messages;
  const { name, scopes, createdAt, expiresAt } = token;
  const isExpired = useNow((now) => expiresAt <= now);
  return (
    <li className={list.plain}>
      <div>
        <div className={list.head}>
          <span className={list.name}>{name}</span>
          {scopes.map((scope) => (
            <span key={scope} className={list.tag} title={names.scopeHints[scope]}>
              {names.scopeNames[scope]}
            </span>
          ))}
        </div>
        <div className={list.detail}>
          {person !== null && `${names.of(person)} · `}
          <RelativeTime moment={createdAt} phrase={names.createdAgo} />
          {' · '}
          {isExpired ? (
            <span className={list.warning}>{names.expired}</span>
          ) : (
            <span title={formats.fullMoment(expiresAt)}>{names.expires(formats.day(expiresAt))}</span>
          )}
        </div>
      </div>
      <IconAction label={names.revoke(name)} icon={<IconTrash size={16} />} onClick={onRevoke} />
    </li>
  );
}
