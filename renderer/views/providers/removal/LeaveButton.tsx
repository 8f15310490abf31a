import { Button } from '@mantine/core';
import { IconDoorExit } from '@tabler/icons-react';
import { useState } from 'react';
import type { ProviderView } from '../../../../server/contract/provider-views.ts';
import { useMessages } from '../../../messages/use-messages.ts';
import { useCanChange, useLocks } from '../../../state/rights/use-rights.ts';
import { RemoveProvider } from './RemoveProvider.tsx';
import { useGatewayPreset } from './use-gateway-preset.ts';

/** Shown on the card of a team's gateway that this Sluice has joined. */
export function LeaveButton({ provider }: { provider: ProviderView }) {
  const { joining: names } = useMessages();
  const canChange = useCanChange();
  const locks = useLocks();
  // Locks of the gateway's own preset do not count, because they end with it.
  const preset = useGatewayPreset(provider);
  const isLocked = preset === null && locks.removing('providers', provider.id) !== null;
  const [isAsking, setAsking] = useState(false);
  const close = () => setAsking(false);
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconDoorExit size={14} />}
        aria-label={names.leaveNamed(provider.name)}
        disabled={!canChange || isLocked}
        onClick={() => setAsking(true)}
      >
        {names.leave}
      </Button>
      <RemoveProvider provider={isAsking ? provider : null} onClose={close} onRemoved={close} />
    </>
  );
}
