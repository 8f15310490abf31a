import type { PersonView } from '../../../server/contract/people-views.ts';
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/use-command.ts';

interface SignOutDialogProps {
  /** Null: nothing to ask. */
  person: PersonView | null;
  onClose(): void;
  /** With what was done, in a sentence. */
  onDone(notice: string): void;
}

/** Asks before all sessions and API tokens of a person end. */
export function SignOutDialog({ person, onClose, onDone }: SignOutDialogProps) {
  const { people: names } = useMessages();
  const command = useCommand();
  const close = () => {
    command.forget();
    onClose();
  };
  const signOut = async ({ id, name }: PersonView) => {
    const result = await command.run({ type: 'person.sign-out', id });
    if (!result) return;
    onDone(names.signedOut(name, result.ended));
    close();
  };
  return (
    <ConfirmDialog
      opened={person !== null}
      title={names.signOutTitle}
      text={person ? names.signOutText(person.name) : ''}
      confirm={names.signOutConfirm}
      isRunning={command.isRunning}
      problem={command.problem}
      onConfirm={() => person && void signOut(person)}
      onClose={close}
    />
  );
}
