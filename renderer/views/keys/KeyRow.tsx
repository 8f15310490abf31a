import { IconEye, IconTrash } from '@tabler/icons-react';
import { memo } from 'react';
import type { KeyView } from '../../../server/contract/views.ts';
import { CommandProblem } from '../../components/CommandProblem.tsx';
import { IconAct } from '../../components/IconAct.tsx';
import classes from '../../components/List.module.css';
import { RelativeTime } from '../../components/RelativeTime.tsx';
import type { ShownSecret } from '../../components/SecretContent.tsx';
import { StateSwitch } from '../../components/StateSwitch.tsx';
import { useNow } from '../../components/use-now.ts';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useCanChange } from '../../state/use-can-change.ts';
import { useCommand } from '../../state/use-command.ts';

export interface KeyRowProps {
  view: KeyView;
  onReveal(secret: ShownSecret): void;
  onRevoke(view: KeyView): void;
}

export const KeyRow = memo(function KeyRow({ view, onReveal, onRevoke }: KeyRowProps) {
  const { keys: names, secret: secretNames } = useMessages();
  const command = useCommand();
  const name = view.name ?? view.id;
  const reveal = async () => {
    const result = await command.run({ type: 'key.reveal', id: view.id });
    if (result) onReveal({ title: secretNames.revealed, name, secret: result.secret, isKept: true });
  };
  return (
    <li className={classes.row}>
      <StateSwitch
        label={names.switch(name)}
        isOn={view.enabled}
        isBusy={command.isRunning}
        onChange={(enabled) => void command.run({ type: 'key.update', id: view.id, changes: { enabled } })}
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
    <div className={classes.actions}>
      {view.canReveal && <IconAct label={names.reveal(name)} icon={<IconEye size={18} />} onClick={onReveal} />}
      <IconAct label={names.revoke(name)} icon={<IconTrash size={18} />} isDisabled={!canChange} onClick={onRevoke} />
    </div>
  );
}
