import { Button } from '@mantine/core';
import { IconUsers } from '@tabler/icons-react';
import { useCallback, useState } from 'react';
import { useLocation } from 'wouter';
import { useMessages } from '../../../messages/use-messages.ts';
import { usePerson } from '../../../state/rights/use-rights.ts';
import { JoinDialog } from './JoinDialog.tsx';

/** For personal installations only. Where people sign in, this is already the team's gateway. */
export function JoinButton({ isDisabled }: { isDisabled: boolean }) {
  const { joining: names } = useMessages();
  const [isOpen, setOpen] = useState(false);
  const [, goTo] = useLocation();
  const onJoined = useCallback(
    (provider: string) => {
      setOpen(false);
      goTo(`/providers/${provider}`);
    },
    [goTo],
  );
  if (usePerson()) return null;
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconUsers size={14} />}
        disabled={isDisabled}
        onClick={() => setOpen(true)}
      >
        {names.open}
      </Button>
      <JoinDialog opened={isOpen} onClose={() => setOpen(false)} onJoined={onJoined} />
    </>
  );
}
