import { NativeSelect } from '@mantine/core';
import { IconCircleCheckFilled } from '@tabler/icons-react';
import { Link, useLocation } from 'wouter';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/use-control.ts';
import { latestArrival } from './arrival.ts';
import classes from './Connect.module.css';
import { clientKinds } from './client-guide.ts';
import { clientGuides } from './client-guides.ts';

const addressOf = (id: string) => `/connect/${id}`;

/** All clients; a mark at those whose requests arrived. In a narrow window a menu. */
export function ClientList({ chosenId }: { chosenId: string | null }) {
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
              {guidesOf(kind).map(({ id, name }) => (
                <li key={id}>
                  <Link
                    className={classes.link}
                    href={addressOf(id)}
                    aria-current={id === chosenId ? 'true' : undefined}
                  >
                    <span>{name}</span>
                    <ArrivalMark id={id} />
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

function ArrivalMark({ id }: { id: string }) {
  const { connect: messages } = useMessages();
  const hasArrived = useControlState(({ requests }) =>
    clientGuides.some((guide) => guide.id === id && latestArrival(guide, requests) !== null),
  );
  if (!hasArrived) return null;
  return <IconCircleCheckFilled className={classes.arrived} size={14} aria-label={messages.hasArrived} role="img" />;
}

function guidesOf(kind: (typeof clientKinds)[number]) {
  return clientGuides.filter((guide) => guide.kind === kind);
}
