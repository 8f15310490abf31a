import { NativeSelect } from '@mantine/core';
import { IconCircleCheckFilled } from '@tabler/icons-react';
import { Link, useLocation } from 'wouter';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/use-control.ts';
import { type KnownUses, latestArrival } from './arrival.ts';
import classes from './Connect.module.css';
import { type ClientGuide, clientKinds } from './client-guide.ts';
import { clientGuides } from './client-guides.ts';

const addressOf = (id: string) => `/connect/${id}`;

interface ClientListProps {
  chosenId: string | null;
  remembered: KnownUses['remembered'];
}

/** All clients; a mark at those whose requests arrived. In a narrow window a menu. */
export function ClientList({ chosenId, remembered }: ClientListProps) {
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
                    <ArrivalMark guide={guide} remembered={remembered} />
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

function ArrivalMark({ guide, remembered }: { guide: ClientGuide; remembered: KnownUses['remembered'] }) {
  const { connect: messages } = useMessages();
  const hasArrived = useControlState(({ requests }) => latestArrival(guide, { requests, remembered }) !== null);
  if (!hasArrived) return null;
  return <IconCircleCheckFilled className={classes.arrived} size={14} aria-label={messages.hasArrived} role="img" />;
}

function guidesOf(kind: (typeof clientKinds)[number]) {
  return clientGuides.filter((guide) => guide.kind === kind);
}
