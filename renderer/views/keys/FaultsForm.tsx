import { NativeSelect, Stack, Text } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { KeyView } from '../../../server/contract/access-views.ts';
import { type FaultProfileName, faultProfileNames } from '../../../server/contract/faults.ts';
import { DialogActs } from '../../components/DialogActs.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/use-command.ts';

const spans = [5, 10, 30, 60] as const;

/** Switches faults on purpose on for a key. */
export function FaultsForm({ view, onClose }: { view: KeyView; onClose(): void }) {
  const { faults: names } = useMessages();
  const [profile, setProfile] = useState<FaultProfileName>('rough');
  const [minutes, setMinutes] = useState<(typeof spans)[number]>(10);
  const command = useCommand();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (await command.run({ type: 'faults.start', key: view.id, profile, minutes })) onClose();
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="sm">
        <Text>{names.lead(view.name ?? view.id)}</Text>
        <NativeSelect
          label={names.profileLabel}
          value={profile}
          data={faultProfileNames.map((name) => ({ value: name, label: names.profiles[name] }))}
          onChange={({ currentTarget }) =>
            setProfile(faultProfileNames.find((name) => name === currentTarget.value) ?? 'rough')
          }
          data-autofocus
        />
        <NativeSelect
          label={names.minutes}
          value={String(minutes)}
          data={spans.map((span) => ({ value: String(span), label: names.spans[span] }))}
          onChange={({ currentTarget }) => setMinutes(spans.find((span) => String(span) === currentTarget.value) ?? 10)}
        />
        <DialogActs command={command} submit={names.start} onLeave={onClose} />
      </Stack>
    </form>
  );
}
