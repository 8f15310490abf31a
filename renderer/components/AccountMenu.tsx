import { ActionIcon, Menu } from '@mantine/core';
import { IconUserCircle } from '@tabler/icons-react';
import type { Person } from '../../server/contract/people.ts';
import { useMessages } from '../messages/use-messages.ts';
import { useControlState, useControlStore } from '../state/use-control.ts';

/** Who is signed in, and the way out; nothing where nobody signs in. */
export function AccountMenu() {
  const { account } = useMessages();
  const { reconnect } = useControlStore();
  const person = useControlState(({ views }) => views?.status.person ?? null);
  if (!person) return null;
  const signOut = async () => {
    await fetch('/control/sign-out', { method: 'POST' }).catch(() => {});
    reconnect();
  };
  return (
    <Menu position="bottom-end" transitionProps={{ duration: 0 }}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={account.label} title={person.name}>
          <IconUserCircle size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {person.name}
          {person.email !== null && person.email !== person.name && <div>{person.email}</div>}
          <div>{roleOf(person, account)}</div>
        </Menu.Label>
        <Menu.Item onClick={() => void signOut()}>{account.signOut}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function roleOf(
  { isAdmin, manages, memberOf }: Person,
  { admin, manager, member }: ReturnType<typeof useMessages>['account'],
): string {
  if (isAdmin) return admin;
  return manages.length > 0 ? manager(manages.join(', ')) : member(memberOf.join(', '));
}
