import type { PersonView } from '../../../server/contract/people-views.ts';
import { CommandDialog } from '../../components/dialogs/CommandDialog.tsx';
import { useMessages } from '../../messages/use-messages.ts';

interface SignOutDialogProps {
  /** Null while there is nothing to confirm. */
  person: PersonView | null;
  onClose(): void;
  /** Receives a sentence that says what was done. */
  onDone(notice: string): void;
}

/** Asks for confirmation before all sessions and API tokens of a person are ended. */
export function SignOutDialog({ person, onClose, onDone }: SignOutDialogProps) {
  const { people: names } = useMessages();
  return (
    <CommandDialog
      command={person && { type: 'person.sign-out', id: person.id }}
      title={names.signOutTitle}
      text={person ? names.signOutText(person.name) : ''}
      confirm={names.signOutConfirm}
      onDone={({ ended }) => person && onDone(names.signedOut(person.name, ended))}
      onClose={onClose}
    />
  );
}
