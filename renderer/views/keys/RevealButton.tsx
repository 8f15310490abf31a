import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './Keys.module.css';

interface RevealButtonProps {
  icon: ReactNode;
  label: string;
  onClick(): void;
}

/** Stands in place of fields that few keys need, and shows them. */
export function RevealButton({ icon, label, onClick }: RevealButtonProps) {
  return (
    <Button variant="subtle" size="xs" className={classes.start} leftSection={icon} onClick={onClick}>
      {label}
    </Button>
  );
}
