import { ActionIcon, Button, Group, Popover, Stack, Text } from '@mantine/core';
import { IconUserCircle } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlStore } from '../../state/control/use-control.ts';
import { describeRole, usePerson } from '../../state/rights/use-rights.ts';

/** The person signed in, with a sign-out button. Renders nothing if no sign-in is needed. */
export function AccountMenu() {
  const { account } = useMessages();
  const { reconnect } = useControlStore();
  const person = usePerson();
  const [isOpen, setOpen] = useState(false);
  if (!person) return null;
  const signOut = async () => {
    const answer = await fetch('/control/sign-out', { method: 'POST' }).catch(() => null);
    // Reloading shows the sign-in page. Without it, the end of the session would look like a lost connection at first.
    if (answer?.ok) location.reload();
    else reconnect();
  };
  return (
    <Popover
      opened={isOpen}
      onChange={setOpen}
      position="bottom-end"
      transitionProps={{ duration: 0 }}
      withinPortal={false}
      trapFocus
      returnFocus
    >
      <Popover.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          aria-label={account.label}
          title={person.name}
          onClick={() => setOpen(!isOpen)}
        >
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
              {describeRole(person, account)}
            </Text>
          </div>
          <Group gap="xs">
            <Button component={Link} href="/account" variant="default" size="xs" onClick={() => setOpen(false)}>
              {account.open}
            </Button>
            <Button variant="default" size="xs" onClick={() => void signOut()}>
              {account.signOut}
            </Button>
          </Group>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
