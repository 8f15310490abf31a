import { NativeSelect, Stack, Text, Textarea } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { KeyView } from '../../../../server/contract/access-views.ts';
import { type FaultProfileName, faultProfileNames } from '../../../../server/contract/faults.ts';
import { DialogActions } from '../../../components/dialogs/DialogActions.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { useCommand } from '../../../state/control/use-command.ts';

type Choice = FaultProfileName | 'rules';
const choices: readonly Choice[] = [...faultProfileNames, 'rules'];

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

const spans = [5, 10, 30, 60] as const;

/** Switches on faults for a key. */
export function FaultsForm({ view, onClose }: { view: KeyView; onClose(): void }) {
  const { faults: names } = useMessages();
  const [choice, setChoice] = useState<Choice>('rough');
  const [rules, setRules] = useState('');
  const [minutes, setMinutes] = useState<(typeof spans)[number]>(10);
  const command = useCommand();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const rulesOrProfile = choice === 'rules' ? { rules: linesOf(rules) } : { profile: choice };
    if (await command.run({ type: 'faults.start', key: view.id, ...rulesOrProfile, minutes })) onClose();
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="sm">
        <Text>{names.lead(view.name ?? view.id)}</Text>
        <NativeSelect
          label={names.profileLabel}
          value={choice}
          data={choices.map((each) => ({
            value: each,
            label: each === 'rules' ? names.ownRules : names.profiles[each],
          }))}
          onChange={({ currentTarget }) => setChoice(choices.find((each) => each === currentTarget.value) ?? 'rough')}
          data-autofocus
        />
        {choice === 'rules' && (
          <Textarea
            label={names.rulesLabel}
            description={names.rulesHint}
            value={rules}
            onChange={({ currentTarget }) => setRules(currentTarget.value)}
            autosize
            minRows={3}
            maxRows={10}
            spellCheck={false}
            required
            withAsterisk={false}
          />
        )}
        <NativeSelect
          label={names.minutes}
          value={String(minutes)}
          data={spans.map((span) => ({ value: String(span), label: names.spans[span] }))}
          onChange={({ currentTarget }) => setMinutes(spans.find((span) => String(span) === currentTarget.value) ?? 10)}
        />
        <DialogActions command={command} submit={names.start} onLeave={onClose} />
      </Stack>
    </form>
  );
}
