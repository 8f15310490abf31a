import { Button, FileButton } from '@mantine/core';
import type { ReactNode } from 'react';

interface JsonFileButtonProps {
  icon: ReactNode;
  disabled: boolean;
  children: ReactNode;
  onChoose(file: File | null): void;
}

/** Lets a person choose a JSON file. */
export function JsonFileButton({ icon, disabled, children, onChoose }: JsonFileButtonProps) {
  return (
    <FileButton onChange={onChoose} accept="application/json,.json">
      {(props) => (
        <Button {...props} size="xs" variant="default" disabled={disabled} leftSection={icon}>
          {children}
        </Button>
      )}
    </FileButton>
  );
}
