import type { PersonView } from '../../../server/contract/people-views.ts';
import { CommandDialog } from '../../components/CommandDialog.tsx';
import { useMessages } from '../../messages/use-messages.ts';

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
