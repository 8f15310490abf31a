import { Button, Menu } from '@mantine/core';
import type { ReactNode } from 'react';

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
