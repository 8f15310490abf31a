import { Button, Group, Loader, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import { type FormEvent, lazy, Suspense, useEffect, useState } from 'react';
import type { BegunJoin, JoinState } from '../../../../server/contract/team-preset.ts';
import { CopyLine } from '../../../components/copying/CopyButton.tsx';
import { DialogActions, ModalFrame } from '../../../components/dialogs/ModalFrame.tsx';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import classes from '../Providers.module.css';
import { useJoin } from './use-join.ts';

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
export function JoinDialog({ opened, onClose, onJoined }: JoinDialogProps) {
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
