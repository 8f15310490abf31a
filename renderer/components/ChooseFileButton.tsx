import { Button, FileButton } from '@mantine/core';
import type { ReactNode } from 'react';

interface ChooseFileButtonProps {
  /** Types of files, as an `input` takes them. */
  accept: string;
  icon: ReactNode;
  disabled?: boolean;
  children: ReactNode;
  onChoose(file: File): void;
}

/** Lets a person choose a file. */
export function ChooseFileButton({ accept, icon, disabled = false, children, onChoose }: ChooseFileButtonProps) {
  return (
    <FileButton
      accept={accept}
      onChange={(file) => file && onChoose(file)}
      // Else choosing the same file again, corrected or after it was removed, would be no change.
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
