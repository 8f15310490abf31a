import type { TokenView } from '../../../server/contract/people-views.ts';
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/use-command.ts';

interface RevokeTokenDialogProps {
  /** Null: nothing to ask. */
  token: TokenView | null;
  onClose(): void;
  onRevoked(): void;
}

export function RevokeTokenDialog({ token, onClose, onRevoked }: RevokeTokenDialogProps) {
  const { tokens: names } = useMessages();
  const command = useCommand();
  const close = () => {
    command.forget();
    onClose();
  };
  const revoke = async (id: string) => {
    if (!(await command.run({ type: 'token.revoke', id }))) return;
    onRevoked();
    close();
  };
  return (
    <ConfirmDialog
      opened={token !== null}
      title={names.revokeTitle}
      text={token ? names.revokeText(token.name) : ''}
      confirm={names.revokeConfirm}
      isRunning={command.isRunning}
      problem={command.problem}
      onConfirm={() => token && void revoke(token.id)}
      onClose={close}
    />
  );
}
