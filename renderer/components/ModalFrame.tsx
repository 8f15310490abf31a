import { Modal } from '@mantine/core';
import { type FormEvent, type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { useMessages } from '../messages/use-messages.ts';
import { unsavedEdits } from '../state/unsaved-edits.ts';
import { UnsavedScope, useUnsaved } from '../state/use-unsaved.ts';

interface ModalFrameProps {
  title: string;
  opened: boolean;
  onClose(): void;
  /** It can be closed by its buttons only, so that nothing is lost by a stray click or key. */
  stays?: boolean;
  /** For texts with long lines. */
  isWide?: boolean;
  children: ReactNode;
}

/** Every dialog of the window. By Escape, a click beside it or its cross it closes only after asking if something was typed. */
export function ModalFrame({ title, opened, onClose, stays = false, isWide = false, children }: ModalFrameProps) {
  const { close } = useMessages();
  const [scope] = useState(() => Symbol('dialog'));
  const isAsking = useSyncExternalStore(unsavedEdits.subscribe, unsavedEdits.isAsking);
  const noteTyping = useTypedForm(scope);
  useUnsaved(opened && stays);
  return (
    <Modal
      opened={opened}
      onClose={() => unsavedEdits.ask(onClose, scope)}
      title={title}
      centered
      size={isWide ? 'xl' : 'md'}
      closeOnClickOutside={!stays}
      // The question in front of it is meant then.
      closeOnEscape={!stays && !isAsking}
      withCloseButton={!stays}
      closeButtonProps={{ 'aria-label': close }}
      transitionProps={{ duration: 0 }}
      // Its header is not the page's.
      attributes={{ header: { role: 'presentation' } }}
      styles={{ title: { fontWeight: 600, fontSize: 'var(--mantine-font-size-lg)' } }}
      onInput={noteTyping}
    >
      <UnsavedScope value={scope}>{children}</UnsavedScope>
    </Modal>
  );
}

/** A form in which something was typed counts as unsaved for as long as it is shown: saved ones go. */
function useTypedForm(scope: symbol): (event: FormEvent) => void {
  const typed = useRef<Element | null>(null);
  useEffect(() => unsavedEdits.watch(() => typed.current?.isConnected ?? false, scope), [scope]);
  return ({ target }) => {
    if (target instanceof Element) typed.current = target.closest('form') ?? typed.current;
  };
}
