import { ActionIcon, Button, Menu, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './IconAction.module.css';

interface IconActionProps {
  /** The full name of the action, because the icon alone does not explain it. */
  label: string;
  icon: ReactNode;
  isDisabled?: boolean;
  onClick(): void;
}

const byPointerAndKeyboard = { hover: true, focus: true, touch: false };

/** A button with only an icon; a tooltip shows its name on hover and focus. */
export function IconAction({ label, icon, isDisabled = false, onClick }: IconActionProps) {
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

interface MenuButtonProps {
  label: string;
  icon: ReactNode;
  /** The edge of the button that the menu is aligned with. */
  side: 'start' | 'end';
  /** The menu items. */
  children: ReactNode;
}

export function MenuButton({ label, icon, side, children }: MenuButtonProps) {
  return (
    <Menu position={`bottom-${side}`} transitionProps={{ duration: 0 }}>
      <Menu.Target>
        <Button size="xs" variant="default" leftSection={icon}>
          {label}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  );
}
