import type { TokenView } from '../../../server/contract/people-views.ts';
import { useMessages } from '../../messages/use-messages.ts';
import { CommandDialog } from '../dialogs/CommandDialog.tsx';

interface RevokeTokenDialogProps {
  /** Null while there is nothing to confirm. */
  token: TokenView | null;
  onClose(): void;
  onRevoked(): void;
}

export function RevokeTokenDialog({ token, onClose, onRevoked }: RevokeTokenDialogProps) {
  const { tokens: names } = useMessages();
  return (
    <CommandDialog
      command={token && { type: 'token.revoke', id: token.id }}
      title={names.revokeTitle}
      text={token ? names.revokeText(token.name) : ''}
      confirm={names.revokeConfirm}
      onDone={onRevoked}
      onClose={onClose}
    />
  );
}
