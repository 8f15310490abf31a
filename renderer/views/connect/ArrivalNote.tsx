import { IconAlertTriangle, IconCircleCheckFilled, IconLoader } from '@tabler/icons-react';
import type { KeyView } from '../../../server/contract/access-views.ts';
import type { RefusalView } from '../../../server/contract/request-views.ts';
import { RelativeTime } from '../../components/RelativeTime.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/use-control.ts';
import { errorText } from '../requests/mend.ts';
import { type KnownUses, latestArrival, latestClientOf, latestRefusal } from './arrival.ts';
import classes from './Connect.module.css';
import type { ClientGuide } from './client-guide.ts';

export interface ArrivalNoteProps {
  guide: ClientGuide;
  clientKey: KeyView | null;
  remembered: KnownUses['remembered'];
}

/** Whether the client has come through: by what its requests call themselves, else by the key. */
export function ArrivalNote({ guide, clientKey, remembered }: ArrivalNoteProps) {
  const { connect: messages } = useMessages();
  const byName = useControlState(({ requests }) => latestArrival(guide, { requests, remembered }));
  const client = useControlState(({ requests }) => clientKey && latestClientOf(clientKey.id, { requests, remembered }));
  const isToldApart = guide.userAgent !== null;
  const arrivedAt = isToldApart ? byName : (clientKey?.lastUsedAt ?? null);
  const refusal = useControlState(({ views }) => latestRefusal(guide, views?.refusals ?? [], arrivedAt));
  if (refusal) return <RefusalNote refusal={refusal} />;
  const Icon = arrivedAt === null ? IconLoader : IconCircleCheckFilled;
  return (
    <div className={classes.arrival} role="status">
      <Icon size={16} className={arrivedAt === null ? classes.icon : classes.arrived} aria-hidden />
      <span>
        {arrivedAt === null ? (
          isToldApart ? (
            messages.waiting
          ) : (
            messages.waitingByKey
          )
        ) : (
          <RelativeTime
            moment={arrivedAt}
            phrase={isToldApart ? messages.arrived : (ago) => messages.arrivedByKey(ago, client)}
          />
        )}
        {!isToldApart && ` ${messages.notTold}`}
      </span>
    </div>
  );
}

function RefusalNote({ refusal }: { refusal: RefusalView }) {
  const { connect: messages, requests } = useMessages();
  const why = errorText(refusal.reason, requests.errors);
  return (
    <div className={classes.arrival} role="status">
      <IconAlertTriangle size={16} className={classes.bad} aria-hidden />
      <span>
        <RelativeTime moment={refusal.lastAt} phrase={messages.arrivedAndRefused} /> {why}
      </span>
    </div>
  );
}
