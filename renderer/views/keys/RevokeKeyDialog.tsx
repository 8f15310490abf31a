import type { KeyView } from '../../../server/contract/access-views.ts';
import { ConfirmDialog } from '../../components/dialogs/ConfirmDialog.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { useRights } from '../../state/rights/use-rights.ts';

/** Asks for confirmation before `view` is revoked; null while there is nothing to confirm. */
export function RevokeKeyDialog({ view, onClose }: { view: KeyView | null; onClose(): void }) {
  const { keys: names } = useMessages();
  const { manages } = useRights();
  const command = useCommand();
  const close = () => {
    command.forget();
    onClose();
  };
  const revoke = async (id: string) => {
    if (await command.run({ type: 'key.revoke', id })) close();
  };
  const switchOff = async (id: string) => {
    if (await command.run({ type: 'key.update', id, changes: { enabled: false } })) close();
  };
  return (
    <ConfirmDialog
      opened={view !== null}
      title={names.revokeTitle}
      text={view ? names.revokeText(view.name ?? view.id) : ''}
      confirm={names.revokeConfirm}
      instead={
        view?.enabled && manages(view.group)
          ? { label: names.switchOff, onChoose: () => void switchOff(view.id) }
          : undefined
      }
      isRunning={command.isRunning}
      problem={command.problem}
      onConfirm={() => view && void revoke(view.id)}
      onClose={close}
    />
  );
}
