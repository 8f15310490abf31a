import { ActionIcon, Button, Popover, Stack, Text } from '@mantine/core';
import { IconUserCircle } from '@tabler/icons-react';
import type { Person } from '../../server/contract/people.ts';
import { useMessages } from '../messages/use-messages.ts';
import { useControlStore } from '../state/use-control.ts';
import { usePerson } from '../state/use-rights.ts';

/** Who is signed in, and the way out; nothing where nobody signs in. */
export function AccountMenu() {
  const { account } = useMessages();
  const { reconnect } = useControlStore();
  const person = usePerson();
  if (!person) return null;
  const signOut = async () => {
    const answer = await fetch('/control/sign-out', { method: 'POST' }).catch(() => null);
    // The page of someone who is not signed in; without it, the end of the session would look like a lost connection at first.
    if (answer?.ok) location.reload();
    else reconnect();
  };
  return (
    <Popover position="bottom-end" transitionProps={{ duration: 0 }} withinPortal={false} trapFocus returnFocus>
      <Popover.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={account.label} title={person.name}>
          <IconUserCircle size={18} />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="sm" align="start">
          <div>
            <Text size="sm" fw={600}>
              {person.name}
            </Text>
            {person.email !== null && person.email !== person.name && <Text size="sm">{person.email}</Text>}
            <Text size="sm" c="dimmed">
              {roleOf(person, account)}
            </Text>
          </div>
          <Button variant="default" size="xs" onClick={() => void signOut()}>
            {account.signOut}
          </Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

function roleOf(
  { isAdmin, manages, memberOf }: Person,
  { admin, manager, member }: ReturnType<typeof useMessages>['account'],
): string {
  if (isAdmin) return admin;
  return manages.length > 0 ? manager(manages.join(', ')) : member(memberOf.join(', '));
}
