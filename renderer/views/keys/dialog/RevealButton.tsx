import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from '../Keys.module.css';

interface RevealButtonProps {
  icon: ReactNode;
  label: string;
  onClick(): void;
}

/** A button in place of rarely needed fields, which shows them. */
export function RevealButton({ icon, label, onClick }: RevealButtonProps) {
  return (
    <Button variant="subtle" size="xs" className={classes.start} leftSection={icon} onClick={onClick}>
      {label}
    </Button>
  );
}
