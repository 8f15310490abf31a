import { Button, FileButton } from '@mantine/core';
import type { ReactNode } from 'react';

interface ChooseFileButtonProps {
  /** File types in the syntax of an `input`'s `accept` attribute; any if absent. */
  accept?: string;
  icon: ReactNode;
  disabled?: boolean;
  children: ReactNode;
  onChoose(file: File): void;
}

export function ChooseFileButton({ accept, icon, disabled = false, children, onChoose }: ChooseFileButtonProps) {
  return (
    <FileButton
      {...(accept !== undefined && { accept })}
      onChange={(file) => file && onChoose(file)}
      // Otherwise choosing the same file again, after correcting or removing it, would not fire a change event.
      inputProps={{ onClick: ({ currentTarget }) => (currentTarget.value = '') }}
    >
      {(props) => (
        <Button {...props} size="xs" variant="default" disabled={disabled} leftSection={icon}>
          {children}
        </Button>
      )}
    </FileButton>
  );
}
