import { Button, Drawer, Group, Modal } from '@mantine/core';
import { type FormEvent, type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { useMessages } from '../../messages/use-messages.ts';
import type { CommandRunner } from '../../state/control/use-command.ts';
import { UnsavedScope, unsavedEdits, useUnsaved } from '../../state/edits/unsaved-edits.ts';
import { overlay, overlayLevel } from '../../state/window/overlay.ts';
import { CommandProblem } from '../feedback/CommandProblem.tsx';

interface ModalFrameProps {
  title: string;
  opened: boolean;
  onClose(): void;
  /** Only the dialog's own buttons close it, so that a stray click or key press loses nothing. */
  ignoresClickOutside?: boolean;
  /** `wide` for texts with long lines, `widest` for two of them side by side. */
  width?: keyof typeof widths;
  children: ReactNode;
}

const widths = { usual: 'md', wide: 'xl', widest: '72rem' };

/**
 * The frame of every dialog. If something was typed, Escape, a click outside or the close button ask for confirmation
 * before closing it.
 */
export function ModalFrame({
  title,
  opened,
  onClose,
  ignoresClickOutside = false,
  width = 'usual',
  children,
}: ModalFrameProps) {
  const { close } = useMessages();
  const [scope] = useState(() => Symbol('dialog'));
  const isAsking = useSyncExternalStore(unsavedEdits.subscribe, unsavedEdits.isAsking);
  const isCovered = useSyncExternalStore(overlay.subscribe, overlay.shown) !== null;
  const trackTyping = useTypedForm(scope);
  useUnsaved(opened && ignoresClickOutside);
  return (
    <Modal
      opened={opened}
      onClose={() => unsavedEdits.confirmThen(onClose, scope)}
      title={title}
      centered
      size={widths[width]}
      closeOnClickOutside={!ignoresClickOutside}
      // Escape is then meant for what is in front of it: the question, or an overlay.
      closeOnEscape={!ignoresClickOutside && !isAsking && !isCovered}
      withCloseButton={!ignoresClickOutside}
      closeButtonProps={{ 'aria-label': close }}
      transitionProps={{ duration: 0 }}
      // A `header` element would otherwise be exposed as the banner of the page.
      attributes={{ header: { role: 'presentation' } }}
      styles={{ title: { fontWeight: 600, fontSize: 'var(--mantine-font-size-lg)' } }}
      onInput={trackTyping}
    >
      <UnsavedScope value={scope}>{children}</UnsavedScope>
    </Modal>
  );
}

interface DrawerFrameProps extends Pick<ModalFrameProps, 'title' | 'opened' | 'onClose' | 'children'> {
  /** One of the window's overlays, which may lie above a dialog and returns the focus itself. */
  isOverlay?: boolean;
}

/**
 * A drawer at the end of the window, for settings beside what they change. What is set in it holds at once, so it is closed without
 * a question: by Escape, a click outside or its button, which return the focus to what opened it.
 */
export function DrawerFrame({ title, opened, onClose, isOverlay = false, children }: DrawerFrameProps) {
  const { close } = useMessages();
  return (
    <Drawer
      opened={opened}
      onClose={onClose}
      title={title}
      position="right"
      size="min(420px, 100vw)"
      closeButtonProps={{ 'aria-label': close }}
      {...(isOverlay && { zIndex: overlayLevel, returnFocus: false })}
      overlayProps={{ backgroundOpacity: 0.25 }}
      transitionProps={{ duration: 0 }}
      // A `header` element would otherwise be exposed as the banner of the page.
      attributes={{ header: { role: 'presentation' } }}
      styles={{ title: { fontWeight: 600, fontSize: 'var(--mantine-font-size-lg)' } }}
    >
      {children}
    </Drawer>
  );
}

/** A form in which something was typed counts as unsaved while it is mounted; a form that was saved is removed. */
function useTypedForm(scope: symbol): (event: FormEvent) => void {
  const typedForm = useRef<Element | null>(null);
  useEffect(() => unsavedEdits.watch(() => typedForm.current?.isConnected ?? false, scope), [scope]);
  return ({ target }) => {
    if (target instanceof Element) typedForm.current = target.closest('form') ?? typedForm.current;
  };
}

interface DialogActionsProps {
  /** The command that the form sends. */
  command: Pick<CommandRunner, 'isRunning' | 'problem'>;
  /** Label of the submit button; "Save" if absent. */
  submit?: string;
  /** The current input is invalid and must not be sent. */
  isBlocked?: boolean;
  /** Label of the other button; "Cancel" if absent. */
  leave?: string;
  onLeave(): void;
}

/** The end of a form in a dialog: its buttons, and whatever prevents sending it. */
export function DialogActions({ command, submit, isBlocked = false, leave, onLeave }: DialogActionsProps) {
  const { cancel, save } = useMessages();
  const { isRunning, problem } = command;
  return (
    <>
      {problem && <CommandProblem problem={problem} />}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onLeave}>
          {leave ?? cancel}
        </Button>
        <Button type="submit" loading={isRunning} disabled={isBlocked}>
          {submit ?? save}
        </Button>
      </Group>
    </>
  );
}
