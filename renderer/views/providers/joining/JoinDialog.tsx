import { Button, Group, Loader, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { IconExternalLink, IconUsers } from '@tabler/icons-react';
import { type FormEvent, lazy, Suspense, useCallback, useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import type { BegunJoin, JoinState } from '../../../../server/contract/team-preset.ts';
import { CopyLine } from '../../../components/copying/CopyButton.tsx';
import { DialogActions, ModalFrame } from '../../../components/dialogs/ModalFrame.tsx';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { asControlError, type ControlError } from '../../../state/api/api.ts';
import { useControlStore } from '../../../state/control/use-control.ts';
import { usePerson } from '../../../state/rights/use-rights.ts';
import classes from '../Providers.module.css';

const OfferedPreset = lazy(async () => ({ default: (await import('./OfferedPreset.tsx')).OfferedPreset }));

interface JoinDialogProps {
  opened: boolean;
  onClose(): void;
  /** Receives the id of the new provider. */
  onJoined(provider: string): void;
}

/**
 * Joins a team's gateway: its address, the code to confirm there, the group of the key if there are several, and its
 * team preset.
 */
function JoinDialog({ opened, onClose, onJoined }: JoinDialogProps) {
  const { joining: names } = useMessages();
  return (
    <ModalFrame opened={opened} onClose={onClose} title={names.title}>
      {opened && <JoinSteps onClose={onClose} onJoined={onJoined} />}
    </ModalFrame>
  );
}

/** Unmounted when the dialog closes, which abandons an unfinished join. */
function JoinSteps({ onClose, onJoined }: Omit<JoinDialogProps, 'opened'>) {
  const join = useJoin();
  const { started, progress } = join;
  const joined = progress?.state === 'joined' ? progress : null;
  useEffect(() => {
    if (joined?.preset.state === 'none') onJoined(joined.provider);
  }, [joined, onJoined]);
  if (!started) return <AddressForm join={join} onLeave={onClose} />;
  if (joined && joined.preset.state !== 'none') {
    const { provider, preset } = joined;
    const { host } = new URL(started.origin);
    return (
      <Suspense fallback={null}>
        <OfferedPreset host={host} provider={provider} preset={preset} onDone={() => onJoined(provider)} />
      </Suspense>
    );
  }
  if (progress?.state === 'choosing') return <GroupForm join={join} groups={progress.groups} onLeave={onClose} />;
  return <ConfirmStep join={join} started={started} onLeave={onClose} />;
}

interface StepProps {
  join: ReturnType<typeof useJoin>;
  onLeave(): void;
}

function AddressForm({ join, onLeave }: StepProps) {
  const { joining: names } = useMessages();
  const [url, setUrl] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void join.start(url.trim());
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Text>{names.text}</Text>
        <TextInput
          label={names.url}
          placeholder={names.urlPlaceholder}
          value={url}
          onChange={({ currentTarget }) => setUrl(currentTarget.value)}
          inputMode="url"
          autoComplete="off"
          spellCheck={false}
          required
          withAsterisk={false}
          data-autofocus
        />
        <DialogActions command={join} submit={names.next} isBlocked={url.trim() === ''} onLeave={onLeave} />
      </Stack>
    </form>
  );
}

function ConfirmStep({ join, started: { origin, signIn }, onLeave }: StepProps & { started: BegunJoin }) {
  const { joining: names, cancel } = useMessages();
  return (
    <Stack gap="sm">
      {signIn && (
        <>
          <Text>{names.confirmText(new URL(origin).host)}</Text>
          <div className={classes.code}>
            <CopyLine value={signIn.code} label={names.code} />
          </div>
          <Button
            component="a"
            href={signIn.url}
            target="_blank"
            rel="noreferrer"
            leftSection={<IconExternalLink size={16} />}
            data-autofocus
          >
            {names.openPage}
          </Button>
        </>
      )}
      {join.problem ? (
        <CommandProblem problem={join.problem} />
      ) : (
        <Text className={classes.waiting} role="status">
          <Loader size="xs" aria-hidden /> {names.waiting}
        </Text>
      )}
      <Group justify="flex-end" gap="xs">
        {join.problem && (
          <Button variant="default" onClick={join.restart}>
            {names.again}
          </Button>
        )}
        <Button variant="default" onClick={onLeave}>
          {cancel}
        </Button>
      </Group>
    </Stack>
  );
}

type Choice = Extract<JoinState, { state: 'choosing' }>['groups'];

function GroupForm({ join, groups, onLeave }: StepProps & { groups: Choice }) {
  const { joining: names } = useMessages();
  const [group, setGroup] = useState(groups[0]?.id ?? '');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void join.choose(group);
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Text>{names.chooseText}</Text>
        <NativeSelect
          label={names.group}
          data={groups.map(({ id, name }) => ({ value: id, label: name ?? id }))}
          value={group}
          onChange={({ currentTarget }) => setGroup(currentTarget.value)}
          data-autofocus
        />
        <DialogActions command={join} submit={names.join} onLeave={onLeave} />
      </Stack>
    </form>
  );
}

/** For personal installations only. Where people sign in, this is already the team's gateway. */
export function JoinButton({ isDisabled }: { isDisabled: boolean }) {
  const { joining: names } = useMessages();
  const [isOpen, setOpen] = useState(false);
  const [, goTo] = useLocation();
  const onJoined = useCallback(
    (provider: string) => {
      setOpen(false);
      goTo(`/providers/${provider}`);
    },
    [goTo],
  );
  if (usePerson()) return null;
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconUsers size={14} />}
        disabled={isDisabled}
        onClick={() => setOpen(true)}
      >
        {names.open}
      </Button>
      <JoinDialog opened={isOpen} onClose={() => setOpen(false)} onJoined={onJoined} />
    </>
  );
}

interface JoinProcess {
  started: BegunJoin | null;
  /** Null until known. */
  progress: JoinState | null;
  isRunning: boolean;
  problem: ControlError | null;
  start(url: string): Promise<void>;
  choose(group: string): Promise<void>;
  restart(): void;
}

type State = Pick<JoinProcess, 'started' | 'progress' | 'isRunning' | 'problem'>;
const initialState: State = { started: null, progress: null, isRunning: false, problem: null };

/** Joins a team's gateway. While the code is shown, polls whether the person has confirmed it. */
function useJoin(): JoinProcess {
  const store = useControlStore();
  const [state, setState] = useState<State>(initialState);
  const { started, progress, problem } = state;
  const attempt = async (call: () => Promise<Partial<State>>) => {
    setState((old) => ({ ...old, isRunning: true, problem: null }));
    const next = await call().catch((error: unknown) => ({ problem: asControlError(error) }));
    setState((old) => ({ ...old, ...next, isRunning: false }));
  };
  const isWaiting = started !== null && problem === null && (progress === null || progress.state === 'waiting');
  useEffect(() => {
    if (!isWaiting || !started) return;
    let isStopped = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const poll = async () => {
      const next = await store.execute({ type: 'team.finish-join', id: started.id }).then(
        (answer) => ({ progress: answer }),
        (error: unknown) => ({ problem: asControlError(error) }),
      );
      if (isStopped) return;
      setState((old) => ({ ...old, ...next }));
      if ('progress' in next && next.progress.state === 'waiting')
        timer = setTimeout(poll, started.intervalSeconds * 1_000);
    };
    // A person who is already signed in has nothing to confirm.
    timer = setTimeout(poll, started.signIn ? started.intervalSeconds * 1_000 : 0);
    return () => {
      isStopped = true;
      clearTimeout(timer);
    };
  }, [store, started, isWaiting]);
  return {
    ...state,
    start: (url) => attempt(async () => ({ started: await store.execute({ type: 'team.join', url }) })),
    choose: (group) =>
      attempt(async () => ({
        progress: await store.execute({ type: 'team.finish-join', id: started?.id ?? '', group }),
      })),
    restart: () => setState(initialState),
  };
}
