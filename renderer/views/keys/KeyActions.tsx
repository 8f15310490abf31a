import { ActionIcon, Menu } from '@mantine/core';
import { IconDots, IconEye, IconPencil, IconRefresh, IconTestPipe, IconTrash } from '@tabler/icons-react';
import { useRef } from 'react';
import type { KeyView } from '../../../server/contract/access-views.ts';
import { IconAction } from '../../components/buttons/IconAction.tsx';
import { CopyButton } from '../../components/copying/CopyButton.tsx';
import classes from '../../components/lists/List.module.css';
import { useMessages } from '../../messages/use-messages.ts';
import { useCanChange, useRights } from '../../state/rights/use-rights.ts';

const actSize = 18;
const itemSize = 14;

interface KeyActionsProps {
  view: KeyView;
  /** Null if there is none; the row then shows the reason. */
  readSecret(): Promise<string | null>;
  onReveal(): void;
  onEdit(): void;
  onRotate(): void;
  onTest(): void;
  onRevoke(): void;
}

/** Frequent actions are directly accessible. Those that end a secret are in a menu. */
export function KeyActions({ view, readSecret, onReveal, onEdit, onRotate, onTest, onRevoke }: KeyActionsProps) {
  const { keys: names, testing } = useMessages();
  const { manages, mayWithKey } = useRights();
  const isDisabled = !useCanChange();
  const name = view.name ?? view.id;
  const more = useRef<HTMLButtonElement>(null);
  // When a dialog closes, the focus returns to the element that had it. By then the menu item is gone, so the focus
  // moves to the menu button first.
  const fromMenu = (action: () => void) => () => {
    more.current?.focus();
    action();
  };
  return (
    <div className={classes.actions}>
      {view.canReveal && <CopyButton value={readSecret} label={names.secretOf(name)} />}
      <IconAction
        label={names.edit(name)}
        icon={<IconPencil size={actSize} />}
        isDisabled={isDisabled}
        onClick={onEdit}
      />
      <Menu position="bottom-end" transitionProps={{ duration: 0 }}>
        <Menu.Target>
          <ActionIcon ref={more} variant="subtle" color="gray" aria-label={names.more(name)} title={names.more(name)}>
            <IconDots size={actSize} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {view.canReveal && (
            <Menu.Item leftSection={<IconEye size={itemSize} aria-hidden />} onClick={fromMenu(onReveal)}>
              {names.reveal}
            </Menu.Item>
          )}
          {mayWithKey('secret-of-key', view) && (
            <Menu.Item
              leftSection={<IconRefresh size={itemSize} aria-hidden />}
              disabled={isDisabled}
              onClick={fromMenu(onRotate)}
            >
              {names.rotate}
            </Menu.Item>
          )}
          {manages(view.group) && (
            <Menu.Item leftSection={<IconTestPipe size={itemSize} aria-hidden />} onClick={fromMenu(onTest)}>
              {testing.open}
            </Menu.Item>
          )}
          <Menu.Divider />
          <Menu.Item
            c="var(--meaning-bad)"
            leftSection={<IconTrash size={itemSize} aria-hidden />}
            disabled={isDisabled}
            onClick={fromMenu(onRevoke)}
          >
            {names.revoke}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </div>
  );
}
