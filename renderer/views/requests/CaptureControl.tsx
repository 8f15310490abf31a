import { Button, Menu, Stack, Text } from '@mantine/core';
import { IconPlayerRecordFilled, IconPlayerStop } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import type { CommandInputMap } from '../../../server/contract/commands.ts';
import type { TimedCaptureView } from '../../../server/contract/status-views.ts';
import { DialogActions, ModalFrame } from '../../components/dialogs/ModalFrame.tsx';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { pageLength } from '../../components/lists/LongList.tsx';
import { type Chosen, FindSelect } from '../../components/selects/FindSelect.tsx';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { useCount, useNameOf } from '../../state/control/use-found.ts';
import { useMayStop, usePerson, useRights } from '../../state/rights/use-rights.ts';
import { useNow } from '../../state/window/use-now.ts';
import classes from './Requests.module.css';

const minutes = 10;
const none: readonly TimedCaptureView[] = [];

type Scope = Pick<CommandInputMap['capture.start'], 'group' | 'key' | 'requests'>;

/** Captures headers and bodies of requests for the next ten minutes: of all requests, or those of a group or key. */
export function CaptureControl() {
  const { messages, formats } = useLocalization();
  const names = messages.timedCapture;
  const { run, isRunning, problem } = useCommand();
  const timed = useControlState((state) => state.views?.status.capture ?? none);
  const { scopes, isLong } = useScopes();
  const [isChoosing, setChoosing] = useState(false);
  const days = useControlState((state) => state.views?.status.settings.capture.retentionDays ?? 0);
  const hint = names.hint(formats.number(minutes), formats.number(days));
  const start = (scope: Scope) => void run({ type: 'capture.start', minutes, ...scope });
  return (
    <>
      {problem && <CommandProblem problem={problem} />}
      {timed.map((each) => (
        <RunningCapture key={`${each.kind} ${each.id}`} timed={each} onStop={() => void run(stopOf(each))} />
      ))}
      {(scopes.length > 0 || isLong) && (
        <Menu position="bottom-end" transitionProps={{ duration: 0 }}>
          <Menu.Target>
            <Button
              size="xs"
              variant="default"
              loading={isRunning}
              leftSection={<IconPlayerRecordFilled size={14} className={classes.record} aria-hidden />}
            >
              {names.act}
            </Button>
          </Menu.Target>
          <Menu.Dropdown className={classes.scopes}>
            <Menu.Label className={classes.scopeHint}>{hint}</Menu.Label>
            {scopes.map(({ label, scope }) => (
              <Menu.Item key={JSON.stringify(scope)} onClick={() => start(scope)}>
                {label}
              </Menu.Item>
            ))}
            {isLong && <Menu.Item onClick={() => setChoosing(true)}>{names.oneOfMany}</Menu.Item>}
            <Menu.Divider />
            <Menu.Label className={classes.scopeHint}>{names.one}</Menu.Label>
          </Menu.Dropdown>
        </Menu>
      )}
      <CaptureDialog opened={isChoosing} hint={hint} minutes={minutes} onClose={() => setChoosing(false)} />
    </>
  );
}

/** What the person may capture: everything, or the groups that they manage and the keys in them. `isLong`: too many for a menu. */
function useScopes(): { scopes: { label: string; scope: Scope }[]; isLong: boolean } {
  const { timedCapture: names } = useMessages();
  const { isAdmin, manages } = useRights();
  const person = usePerson();
  const count = (useCount('key') ?? 0) + (useCount('group') ?? 0);
  const groups = useControlState((state) => state.views?.groups) ?? [];
  const keys = useControlState((state) => state.views?.keys) ?? [];
  const everything = [
    { label: names.all, scope: {} },
    { label: names.next, scope: { requests: 1 } },
  ];
  const ofAll = isAdmin ? everything : [];
  if (count > pageLength) return { scopes: ofAll, isLong: isAdmin || (person !== null && person.manages.length > 0) };
  const ofGroups = groups
    .filter(({ id }) => manages(id))
    .map(({ id, name }) => ({ label: names.group(name ?? id), scope: { group: id } }));
  const ofKeys = keys
    .filter(({ group }) => manages(group))
    .map(({ id, name }) => ({ label: names.key(name ?? id), scope: { key: id } }));
  return { scopes: [...ofAll, ...ofGroups, ...ofKeys], isLong: false };
}

function stopOf({ kind, id }: TimedCaptureView) {
  return { type: 'capture.stop', ...(kind !== 'all' && id !== null && { [kind]: id }) } as const;
}

function RunningCapture({ timed, onStop }: { timed: TimedCaptureView; onStop(): void }) {
  const { messages, formats } = useLocalization();
  const names = messages.timedCapture;
  const name = useNameOf(timed.kind === 'group' ? 'group' : 'key', timed.id) ?? '';
  const mayStop = useMayStop(timed);
  // Rounded to whole seconds.
  const remainingTime = useNow((now) =>
    formats.duration(Math.max(0, Math.ceil((timed.untilMs - now) / 1_000)) * 1_000),
  );
  const all = timed.requestsLeft === null ? names.all : names.next;
  const captured = timed.kind === 'all' ? all : names[timed.kind](name);
  return (
    <span className={classes.capturing}>
      <IconPlayerRecordFilled size={12} className={classes.record} aria-hidden />
      {names.running(captured, remainingTime)}
      {mayStop && (
        <Button
          size="compact-xs"
          variant="default"
          leftSection={<IconPlayerStop size={12} aria-hidden />}
          aria-label={names.stopOf(captured)}
          onClick={onStop}
        >
          {names.stop}
        </Button>
      )}
    </span>
  );
}

interface CaptureDialogProps {
  opened: boolean;
  hint: string;
  minutes: number;
  onClose(): void;
}

/** Chooses the group or key whose requests are captured, of more than a menu holds. */
function CaptureDialog({ opened, onClose, ...form }: CaptureDialogProps) {
  const { timedCapture: names } = useMessages();
  return (
    <ModalFrame opened={opened} onClose={onClose} title={names.choose}>
      <CaptureForm {...form} onClose={onClose} />
    </ModalFrame>
  );
}

function CaptureForm({ hint, minutes, onClose }: Omit<CaptureDialogProps, 'opened'>) {
  const { timedCapture: names } = useMessages();
  const [chosen, choose] = useState<Chosen | null>(null);
  const command = useCommand();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!chosen) return;
    if (await command.run({ type: 'capture.start', minutes, [chosen.kind]: chosen.id })) onClose();
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="sm">
        <Text size="sm">{hint}</Text>
        <FindSelect kinds={['group', 'key']} label={names.whose} chosen={chosen} onChange={choose} />
        <DialogActions command={command} submit={names.act} isBlocked={chosen === null} onLeave={onClose} />
      </Stack>
    </form>
  );
}
