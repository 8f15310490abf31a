import { Button } from '@mantine/core';
import { IconRestore } from '@tabler/icons-react';
import type { ProviderView } from '../../../server/contract/provider-views.ts';
import { useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';

/** Ends the cooldowns of a provider so that it is called again at once. Renders nothing if it is off or healthy. */
export function ResetHealth({ provider }: { provider: ProviderView }) {
  const { health: names } = useMessages();
  const command = useCommand();
  const { id, name, enabled, health } = provider;
  if (!enabled || health.state === 'ok') return null;
  return (
    <Button
      size="xs"
      variant="default"
      leftSection={<IconRestore size={14} />}
      aria-label={names.resetNamed(name)}
      loading={command.isRunning}
      onClick={() => void command.run({ type: 'provider.reset-health', id })}
    >
      {names.reset}
    </Button>
  );
}
