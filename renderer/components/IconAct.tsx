import { ActionIcon, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './IconAct.module.css';

interface IconActProps {
  /** What it does, in full: the icon alone says it to nobody. */
  label: string;
  icon: ReactNode;
  isDisabled?: boolean;
  onClick(): void;
}

const byPointerAndKeyboard = { hover: true, focus: true, touch: false };

/** A button that is only an icon, with its name when the pointer or the focus is on it. */
export function IconAct({ label, icon, isDisabled = false, onClick }: IconActProps) {
  return (
    <Tooltip label={label} openDelay={400} events={byPointerAndKeyboard}>
      <ActionIcon
        className={classes.act}
        variant="subtle"
        color="gray"
        aria-label={label}
        disabled={isDisabled}
        onClick={onClick}
      >
        {icon}
      </ActionIcon>
    </Tooltip>
  );
}
