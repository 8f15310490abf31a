import { Modal } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMessages } from '../messages/use-messages.ts';

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

/** Every dialog of the window. */
export function ModalFrame({ title, opened, onClose, stays = false, isWide = false, children }: ModalFrameProps) {
  const { close } = useMessages();
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={title}
      centered
      size={isWide ? 'xl' : 'md'}
      closeOnClickOutside={!stays}
      closeOnEscape={!stays}
      withCloseButton={!stays}
      closeButtonProps={{ 'aria-label': close }}
      transitionProps={{ duration: 0 }}
      // Its header is not the page's.
      attributes={{ header: { role: 'presentation' } }}
      styles={{ title: { fontWeight: 600, fontSize: 'var(--mantine-font-size-lg)' } }}
    >
      {children}
    </Modal>
  );
}
