import { ActionIcon, Menu, Switch } from '@mantine/core';
import { IconDots, IconEye, IconTrash } from '@tabler/icons-react';
import { memo } from 'react';
import type { KeyView } from '../../../server/contract/views.ts';
import { CommandProblem } from '../../components/CommandProblem.tsx';
import { RelativeTime } from '../../components/RelativeTime.tsx';
import type { ShownSecret } from '../../components/SecretDialog.tsx';
import { useNow } from '../../components/use-now.ts';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useCanChange } from '../../state/use-can-change.ts';
import { useCommand } from '../../state/use-command.ts';
import classes from './List.module.css';

export interface KeyRowProps {
  view: KeyView;
  onReveal(secret: ShownSecret): void;
  onRevoke(view: KeyView): void;
}

export const KeyRow = memo(function KeyRow({ view, onReveal, onRevoke }: KeyRowProps) {
  const { keys: names, secret: secretNames } = useMessages();
  const canChange = useCanChange();
  const command = useCommand();
  const name = view.name ?? view.id;
  const reveal = async () => {
    const result = await command.run({ type: 'key.reveal', id: view.id });
    if (result) onReveal({ title: secretNames.revealed, name, secret: result.secret, isKept: true });
  };
  return (
    <li className={classes.row}>
      <Switch
        aria-label={names.switch(name)}
        checked={view.enabled}
        disabled={!canChange || command.isRunning}
        onChange={(event) =>
          void command.run({ type: 'key.update', id: view.id, changes: { enabled: event.currentTarget.checked } })
        }
      />
      <div className={view.enabled ? undefined : classes.off}>
        <div className={classes.head}>
          <span className={classes.name} title={name}>
            {name}
          </span>
          <span className={classes.tag}>{names.group(view.group)}</span>
        </div>
        <KeyFacts view={view} />
      </div>
      <KeyActions view={view} name={name} onReveal={() => void reveal()} onRevoke={() => onRevoke(view)} />
      {command.problem && (
        <div className={classes.wide}>
          <CommandProblem problem={command.problem} />
        </div>
      )}
    </li>
  );
});

function KeyFacts({ view }: { view: KeyView }) {
  const { messages, formats } = useLocalization();
  const names = messages.keys;
  const expiresAt = view.expiresAt === null ? null : Date.parse(view.expiresAt);
  const isExpired = useNow((now) => expiresAt !== null && expiresAt <= now);
  return (
    <div className={classes.detail}>
      {view.lastUsedAt === null ? names.neverUsed : <RelativeTime moment={view.lastUsedAt} phrase={names.used} />}
      {expiresAt !== null && ' · '}
      {expiresAt !== null && !isExpired && (
        <span title={formats.fullMoment(expiresAt)}>{names.expires(formats.day(expiresAt))}</span>
      )}
      {isExpired && <span className={classes.warning}>{names.expired}</span>}
    </div>
  );
}

interface KeyActionsProps {
  view: KeyView;
  name: string;
  onReveal(): void;
  onRevoke(): void;
}

function KeyActions({ view, name, onReveal, onRevoke }: KeyActionsProps) {
  const { keys: names } = useMessages();
  const canChange = useCanChange();
  return (
    <Menu position="bottom-end" transitionProps={{ duration: 0 }}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={names.actions(name)}>
          <IconDots size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {view.canReveal && (
          <Menu.Item leftSection={<IconEye size={16} />} onClick={onReveal}>
            {names.reveal}
          </Menu.Item>
        )}
        <Menu.Item
          leftSection={<IconTrash size={16} />}
          color="var(--meaning-bad)"
          disabled={!canChange}
          onClick={onRevoke}
        >
          {names.revoke}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
