import { ActionIcon, Menu } from '@mantine/core';
import { IconDots, IconEye, IconPencil, IconRefresh, IconTestPipe, IconTrash } from '@tabler/icons-react';
import { memo, useRef } from 'react';
import { Link } from 'wouter';
import type { KeyView } from '../../../server/contract/access-views.ts';
import type { UsageView } from '../../../server/contract/request-views.ts';
import { LimitMeters } from '../../components/access/LimitMeters.tsx';
import { IconAction } from '../../components/buttons/IconAction.tsx';
import { CopyButton } from '../../components/copying/CopyButton.tsx';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { StateSwitch } from '../../components/forms/StateSwitch.tsx';
import classes from '../../components/lists/List.module.css';
import { RelativeTime } from '../../components/text/RelativeTime.tsx';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { useNameOf } from '../../state/control/use-found.ts';
import { useCanChange, useRights } from '../../state/rights/use-rights.ts';
import { overlay } from '../../state/window/overlay.ts';
import { useNow } from '../../state/window/use-now.ts';
import type { KeyDialogContent } from './dialog/KeyDialog.tsx';

interface KeyRowProps {
  view: KeyView;
  /** In the last thirty days; null if there was none. */
  usage: UsageView | null;
  onOpen(content: KeyDialogContent): void;
  onRevoke(view: KeyView): void;
}

export const KeyRow = memo(function KeyRow({ view, usage, onOpen, onRevoke }: KeyRowProps) {
  const { keys: names, secret: secretNames, cassettes } = useMessages();
  const { manages } = useRights();
  const command = useCommand();
  const name = view.name ?? view.id;
  const groupName = useNameOf('group', view.group);
  const reveal = async () => {
    const result = await command.run({ type: 'key.reveal', id: view.id });
    if (!result) return;
    const secret = { title: secretNames.revealed, name, secret: result.secret, isKept: true };
    onOpen({ act: 'show', secret });
  };
  return (
    <li className={classes.row}>
      <StateSwitch
        label={names.switch(name)}
        isOn={view.enabled}
        isBusy={command.isRunning}
        isLocked={!manages(view.group)}
        onChange={(enabled) => void command.run({ type: 'key.update', id: view.id, changes: { enabled } })}
      />
      <div className={view.enabled ? classes.text : `${classes.text} ${classes.off}`}>
        <div className={classes.head}>
          <span className={classes.name}>{name}</span>
          {view.suffix !== null && (
            <span className={classes.mono} title={names.suffixHint}>
              {`…${view.suffix}`}
            </span>
          )}
          <span className={classes.tag}>{names.group(groupName ?? view.group)}</span>
          {view.capture && <span className={classes.tag}>{names.captured}</span>}
          {view.aliases.length > 0 && <span className={classes.tag}>{names.ownAliasesTag}</span>}
          {view.cassette && view.cassette !== 'off' && (
            <span className={classes.tag}>{cassettes.tags[view.cassette.mode]}</span>
          )}
        </div>
        <KeyFacts view={view} />
        {usage && <KeyUsage usage={usage} />}
        <LimitMeters meters={view.limitUse} />
      </div>
      <KeyActions
        view={view}
        readSecret={async () => (await command.run({ type: 'key.reveal', id: view.id }))?.secret ?? null}
        onReveal={() => void reveal()}
        onEdit={() => onOpen({ act: 'edit', view })}
        onTest={() => overlay.openTesting({ kind: 'key', id: view.id })}
        onRotate={() => onOpen({ act: 'rotate', view })}
        onRevoke={() => onRevoke(view)}
      />
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
  const previousUntil = view.previousUntil === null ? null : Date.parse(view.previousUntil);
  const isInGrace = useNow((now) => previousUntil !== null && previousUntil > now);
  const isExpired = useNow((now) => expiresAt !== null && expiresAt <= now);
  return (
    <div className={classes.detail}>
      {view.lastUsedAt === null ? names.neverUsed : <RelativeTime moment={view.lastUsedAt} phrase={names.used} />}
      {expiresAt !== null && ' · '}
      {expiresAt !== null && !isExpired && (
        <span title={formats.fullMoment(expiresAt)}>{names.expires(formats.day(expiresAt))}</span>
      )}
      {isExpired && <span className={classes.warning}>{names.expired}</span>}
      {previousUntil !== null && isInGrace && ' · '}
      {previousUntil !== null && isInGrace && (
        <span className={classes.warning}>{names.previousUntil(formats.dayAndClock(previousUntil))}</span>
      )}
      {' · '}
      <Link href={`/requests?key=${encodeURIComponent(view.id)}`} aria-label={names.requestsOf(view.name ?? view.id)}>
        {names.requests}
      </Link>
      {view.models && ' · '}
      {view.models && <span className={classes.mono}>{view.models.join(', ')}</span>}
    </div>
  );
}

function KeyUsage({ usage }: { usage: UsageView }) {
  const { messages, formats } = useLocalization();
  const names = messages.limits;
  const { requests, inputTokens, outputTokens, costUsd } = usage;
  const cost = costUsd === null ? names.costUnknown : formats.dollars(costUsd);
  const text = names.usage(requests, formats.number(requests), formats.compact(inputTokens + outputTokens), cost);
  return <div className={classes.detail}>{names.inDays(text)}</div>;
}

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
function KeyActions({ view, readSecret, onReveal, onEdit, onRotate, onTest, onRevoke }: KeyActionsProps) {
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
