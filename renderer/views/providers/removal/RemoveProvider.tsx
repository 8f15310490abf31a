import { Button } from '@mantine/core';
import { IconDoorExit } from '@tabler/icons-react';
import { useState } from 'react';
import type { ProviderView } from '../../../../server/contract/provider-views.ts';
import type { TeamPresetView } from '../../../../server/contract/status-views.ts';
import { ConfirmDialog } from '../../../components/dialogs/ConfirmDialog.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { useCommand } from '../../../state/control/use-command.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { useCanChange, useLocks } from '../../../state/rights/use-rights.ts';
import { announce } from '../../../state/window/announcement.ts';

interface RemoveProviderProps {
  /** Null while there is nothing to confirm. */
  provider: ProviderView | null;
  onClose(): void;
  onRemoved(): void;
}

/** Long enough to read the message twice. */
const keyStaysMs = 12_000;

/**
 * Asks for confirmation before a provider is removed or a team's gateway is left. If aliases use it, lists them
 * instead.
 */
export function RemoveProvider({ provider, onClose, onRemoved }: RemoveProviderProps) {
  const { providers, joining } = useMessages();
  const { remove: names } = providers;
  const aliases = useControlState((state) => state.views?.aliases ?? null) ?? [];
  const command = useCommand();
  const id = provider?.id;
  const users = aliases.filter((alias) => alias.targets.some((target) => target.provider === id));
  const name = provider?.name ?? '';
  const preset = useGatewayPreset(provider);
  // If a team preset is removed as well, so are the aliases that it added.
  const isUsed = users.length > 0 && preset === null;
  const isJoined = provider?.joined ?? false;
  const texts = isJoined
    ? { title: joining.leaveTitle, text: joining.leaveText(name, preset?.name ?? null), confirm: joining.leaveConfirm }
    : { title: names.title, text: names.text(name), confirm: names.confirm };
  const remove = async () => {
    if (id !== undefined && (await command.run({ type: 'provider.remove', id }))) onRemoved();
  };
  const leave = async () => {
    const result = id === undefined ? null : await command.run({ type: 'team.leave', provider: id });
    if (!result) return;
    if (!result.keyEnded) announce(joining.keyStays(name), keyStaysMs);
    onRemoved();
  };
  return (
    <ConfirmDialog
      opened={provider !== null}
      title={texts.title}
      text={isUsed ? names.used(name, users.map((alias) => alias.name).join(', ')) : texts.text}
      confirm={isUsed ? null : texts.confirm}
      isRunning={command.isRunning}
      problem={command.problem}
      onConfirm={() => void (isJoined ? leave() : remove())}
      onClose={() => {
        command.forget();
        onClose();
      }}
    />
  );
}

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

/**
 * The team preset in force that this team's gateway offered, which ends when the gateway is left; null if there is
 * none.
 */
function useGatewayPreset(provider: ProviderView | null): TeamPresetView | null {
  const presets = useControlState((state) => state.views?.status.team.presets ?? null) ?? [];
  if (!provider?.joined) return null;
  const { origin } = new URL(provider.baseUrl);
  return presets.find(({ gateway }) => gateway === origin) ?? null;
}
