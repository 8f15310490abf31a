import { NativeSelect } from '@mantine/core';
import { IconCircleCheckFilled } from '@tabler/icons-react';
import { Link, useLocation } from 'wouter';
import { clientKinds } from '../../../server/contract/clients/client-guide.ts';
import { clientGuides } from '../../../server/contract/clients/client-guides.ts';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { type ClientUses, latestArrival } from './arrival.ts';
import classes from './Connect.module.css';

const addressOf = (id: string) => `/connect/${id}`;

interface ClientListProps {
  chosenId: string | null;
  fromLedger: ClientUses['fromLedger'];
}

/** All clients, with a mark on those whose requests have arrived. A menu in a narrow window. */
export function ClientList({ chosenId, fromLedger }: ClientListProps) {
  const { connect: messages } = useMessages();
  const [, navigate] = useLocation();
  return (
    <>
      <NativeSelect
        className={classes.menu}
        label={messages.clients}
        value={chosenId ?? ''}
        onChange={(event) => navigate(addressOf(event.currentTarget.value))}
        data={clientKinds.map((kind) => ({
          group: messages.kinds[kind],
          items: guidesOf(kind).map(({ id, name }) => ({ value: id, label: name })),
        }))}
      />
      <nav className={classes.list} aria-label={messages.clients}>
        {clientKinds.map((kind) => (
          <div key={kind}>
            <p className={classes.kind}>{messages.kinds[kind]}</p>
            <ul className={classes.links}>
              {guidesOf(kind).map((guide) => (
                <li key={guide.id}>
                  <Link
                    className={classes.link}
                    href={addressOf(guide.id)}
                    aria-current={guide.id === chosenId ? 'true' : undefined}
                  >
                    <span>{guide.name}</span>
                    <ArrivalMark clientId={guide.id} fromLedger={fromLedger} />
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
    </>
  );
}

function ArrivalMark({ clientId, fromLedger }: { clientId: string; fromLedger: ClientUses['fromLedger'] }) {
  const { connect: messages } = useMessages();
  const hasArrived = useControlState(({ requests }) => latestArrival(clientId, { requests, fromLedger }) !== null);
  if (!hasArrived) return null;
  return <IconCircleCheckFilled className={classes.arrived} size={14} aria-label={messages.hasArrived} role="img" />;
}

function guidesOf(kind: (typeof clientKinds)[number]) {
  return clientGuides.filter((guide) => guide.kind === kind);
}
