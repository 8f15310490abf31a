import { ModalFrame } from '../../components/ModalFrame.tsx';
import { SecretContent, type ShownSecret } from '../../components/SecretContent.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { CreateKeyForm } from './CreateKeyForm.tsx';

/** What the dialog shows: the form of a new key, or a secret. */
export type KeyDialogContent = 'create' | ShownSecret;

export interface KeyDialogProps {
  /** Null: closed. */
  content: KeyDialogContent | null;
  onChange(content: KeyDialogContent | null): void;
}

/** One dialog for both, since the secret follows the form: whoever opened it gets the focus back at the end. */
export function KeyDialog({ content, onChange }: KeyDialogProps) {
  const { createKey } = useMessages();
  const secret = content === 'create' ? null : content;
  const close = () => onChange(null);
  return (
    <ModalFrame
      opened={content !== null}
      onClose={close}
      title={secret?.title ?? createKey.title}
      stays={secret !== null}
    >
      {secret ? (
        <SecretContent shown={secret} onDone={close} />
      ) : (
        <CreateKeyForm onCancel={close} onCreated={onChange} />
      )}
    </ModalFrame>
  );
}
