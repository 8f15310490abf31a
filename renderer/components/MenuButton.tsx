import { Button, Menu } from '@mantine/core';
import type { ReactNode } from 'react';

interface MenuButtonProps {
  label: string;
  icon: ReactNode;
  /** Where the menu begins below the button. */
  side: 'start' | 'end';
  /** Its items. */
  children: ReactNode;
}

/** A button that opens a menu. */
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
