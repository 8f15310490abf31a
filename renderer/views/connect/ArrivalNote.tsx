import { IconAlertTriangle, IconCircleCheckFilled, IconLoader } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { KeyView } from '../../../server/contract/access-views.ts';
import { isIdentifiable } from '../../../server/contract/clients/known-clients.ts';
import type { RefusalView } from '../../../server/contract/request-views.ts';
import { RelativeTime } from '../../components/text/RelativeTime.tsx';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { errorText } from '../../state/requests/failures.ts';
import { type ClientUses, latestArrival, latestKeyUse, latestRefusal } from './arrival.ts';
import classes from './Connect.module.css';

export interface ArrivalNoteProps {
  clientId: string;
  clientKey: KeyView | null;
  fromLedger: ClientUses['fromLedger'];
}

/**
 * Whether requests of the client have arrived. The client is recognised by the name its requests give, otherwise by the
 * key.
 */
export function ArrivalNote(props: ArrivalNoteProps) {
  return isIdentifiable(props.clientId) ? <ArrivalByName {...props} /> : <ArrivalByKey {...props} />;
}

function ArrivalByName({ clientId, fromLedger }: ArrivalNoteProps) {
  const { connect: messages } = useMessages();
  const arrivedAt = useControlState(({ requests }) => latestArrival(clientId, { requests, fromLedger }));
  const refusal = useControlState(({ views }) => latestRefusal(clientId, views?.refusals ?? [], arrivedAt));
  if (refusal) return <RefusalNote refusal={refusal} />;
  if (arrivedAt === null) return <Note hasArrived={false}>{messages.waiting}</Note>;
  return (
    <Note hasArrived>
      <RelativeTime moment={arrivedAt} phrase={messages.arrived} />
    </Note>
  );
}

function ArrivalByKey({ clientKey, fromLedger }: ArrivalNoteProps) {
  const {
    messages: { connect: messages },
    formats,
  } = useLocalization();
  const latest = (requests: ClientUses['requests']) =>
    clientKey && latestKeyUse(clientKey.id, { requests, fromLedger });
  const usedAt = useControlState(({ requests }) => latest(requests)?.lastUsedAt ?? null);
  const client = useControlState(({ requests }) => latest(requests)?.client ?? '');
  return (
    <Note hasArrived={usedAt !== null}>
      {usedAt === null ? (
        messages.waitingByKey
      ) : (
        <RelativeTime moment={usedAt} phrase={(ago) => messages.arrivedByKey(ago, client)} />
      )}
      {formats.gap}
      {messages.notTold}
    </Note>
  );
}

function Note({ hasArrived, children }: { hasArrived: boolean; children: ReactNode }) {
  const Icon = hasArrived ? IconCircleCheckFilled : IconLoader;
  return (
    <div className={classes.arrival} role="status">
      <Icon size={16} className={hasArrived ? classes.arrived : classes.icon} aria-hidden />
      <span>{children}</span>
    </div>
  );
}

function RefusalNote({ refusal }: { refusal: RefusalView }) {
  const { connect: messages, requests } = useMessages();
  const explanation = errorText(refusal.reason, requests.errors);
  return (
    <div className={classes.arrival} role="status">
      <IconAlertTriangle size={16} className={classes.bad} aria-hidden />
      <span>
        <RelativeTime moment={refusal.lastAt} phrase={messages.arrivedAndRefused} /> {explanation}
      </span>
    </div>
  );
}
