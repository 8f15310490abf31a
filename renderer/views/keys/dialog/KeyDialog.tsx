import type { KeyView } from '../../../../server/contract/access-views.ts';
import { SecretContent, type ShownSecret } from '../../../components/copying/SecretContent.tsx';
import { ModalFrame } from '../../../components/dialogs/ModalFrame.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { CreateKeyForm } from './CreateKeyForm.tsx';
import { EditKeyForm } from './EditKeyForm.tsx';
import { KeySnippets } from './KeySnippets.tsx';
import { RotateKey } from './RotateKey.tsx';

/** The content of the dialog: the form for a new or existing key, rotation, or a secret. */
export type KeyDialogContent =
  | { act: 'create' }
  | { act: 'edit'; view: KeyView }
  | { act: 'rotate'; view: KeyView }
  | { act: 'show'; secret: ShownSecret };

interface KeyDialogProps {
  /** Null while closed. */
  content: KeyDialogContent | null;
  onChange(content: KeyDialogContent | null): void;
}

/**
 * A single dialog for all of them, because a secret follows a form. The element that opened it gets the focus back at
 * the end.
 */
export function KeyDialog({ content, onChange }: KeyDialogProps) {
  const { createKey, keys } = useMessages();
  const close = () => onChange(null);
  const titles = { create: createKey.title, edit: keys.editTitle, rotate: keys.rotateTitle };
  const title = content?.act === 'show' ? content.secret.title : titles[content?.act ?? 'create'];
  // A secret that was kept can be shown again.
  const isShownOnce = content?.act === 'show' && !content.secret.isKept;
  const isForm = content?.act === 'create' || content?.act === 'edit';
  return (
    <ModalFrame
      opened={content !== null}
      onClose={close}
      title={title}
      ignoresClickOutside={isShownOnce}
      width={isForm ? 'wide' : 'usual'}
    >
      {content && (
        <Content content={content} onClose={close} onSecret={(secret) => onChange({ act: 'show', secret })} />
      )}
    </ModalFrame>
  );
}

interface ContentProps {
  content: KeyDialogContent;
  onClose(): void;
  onSecret(secret: ShownSecret): void;
}

function Content({ content, onClose, onSecret }: ContentProps) {
  switch (content.act) {
    case 'create':
      return <CreateKeyForm onCancel={onClose} onCreated={onSecret} />;
    case 'edit':
      return <EditKeyForm key={content.view.id} view={content.view} onClose={onClose} />;
    case 'rotate':
      return <RotateKey view={content.view} onCancel={onClose} onRotated={onSecret} />;
    case 'show':
      return (
        <SecretContent shown={content.secret} onDone={onClose}>
          <KeySnippets secret={content.secret.secret} />
        </SecretContent>
      );
  }
}
