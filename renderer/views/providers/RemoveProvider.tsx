import type { ProviderView } from '../../../server/contract/provider-views.ts';
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/use-command.ts';
import { useControlState } from '../../state/use-control.ts';

interface RemoveProviderProps {
  /** Null: nothing to ask. */
  provider: ProviderView | null;
  onClose(): void;
  onRemoved(): void;
}

/** Asks before a provider is removed, and says what uses it. */
export function RemoveProvider({ provider, onClose, onRemoved }: RemoveProviderProps) {
  const { remove: names } = useMessages().providers;
  const aliases = useControlState((state) => state.views?.aliases ?? null) ?? [];
  const command = useCommand();
  const id = provider?.id;
  const users = aliases.filter((alias) => alias.targets.some((target) => target.provider === id));
  const name = provider?.name ?? '';
  const isUsed = users.length > 0;
  const remove = async () => {
    if (id !== undefined && (await command.run({ type: 'provider.remove', id }))) onRemoved();
  };
  return (
    <ConfirmDialog
      opened={provider !== null}
      title={names.title}
      text={isUsed ? names.used(name, users.map((alias) => alias.name).join(', ')) : names.text(name)}
      confirm={isUsed ? null : names.confirm}
      isRunning={command.isRunning}
      problem={command.problem}
      onConfirm={() => void remove()}
      onClose={() => {
        command.forget();
        onClose();
      }}
    />
  );
}
