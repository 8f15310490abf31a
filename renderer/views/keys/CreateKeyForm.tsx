import { Button, Checkbox, Group, NativeSelect, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { CommandProblem } from '../../components/CommandProblem.tsx';
import type { ShownSecret } from '../../components/SecretContent.tsx';
import { useLocalization } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/use-command.ts';
import { useControlState } from '../../state/use-control.ts';

export interface CreateKeyFormProps {
  onCancel(): void;
  onCreated(secret: ShownSecret): void;
}

const dayMs = 86_400_000;
/** Days; 0: it never expires. */
const expiryChoices = [0, 1, 7, 30, 90, 365];

/** Lives only as long as its dialog is open, so it always begins empty. */
export function CreateKeyForm({ onCancel, onCreated }: CreateKeyFormProps) {
  const { messages, formats } = useLocalization();
  const names = messages.createKey;
  const groups = useControlState((state) => state.views?.groups ?? null) ?? [];
  const [name, setName] = useState('');
  const [group, setGroup] = useState(groups.find(({ id }) => id === 'default')?.id ?? groups[0]?.id ?? 'default');
  const [expiryDays, setExpiryDays] = useState(0);
  const [keepSecret, setKeepSecret] = useState(true);
  const command = useCommand();

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const result = await command.run({
      type: 'key.create',
      ...(name.trim() && { name: name.trim() }),
      group,
      ...(expiryDays > 0 && { expiresAt: new Date(Date.now() + expiryDays * dayMs).toISOString() }),
      keepSecret,
    });
    if (!result) return;
    const { key, secret } = result;
    onCreated({ title: messages.secret.created, name: key.name ?? key.id, secret, isKept: keepSecret });
  };

  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="sm">
        <TextInput
          label={names.name}
          description={names.nameHint}
          placeholder={names.namePlaceholder}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          maxLength={200}
          autoComplete="off"
          data-autofocus
        />
        <Group grow gap="sm">
          <NativeSelect
            label={names.group}
            value={group}
            onChange={(event) => setGroup(event.currentTarget.value)}
            data={groups.map(({ id, name: groupName }) => ({ value: id, label: groupName ?? id }))}
          />
          <NativeSelect
            label={names.expiry}
            value={String(expiryDays)}
            onChange={(event) => setExpiryDays(Number(event.currentTarget.value))}
            data={expiryChoices.map((days) => ({
              value: String(days),
              label: days === 0 ? names.expiryNever : names.expiryDays(days, formats.number(days)),
            }))}
          />
        </Group>
        <Checkbox
          label={names.keepSecret}
          checked={keepSecret}
          onChange={(event) => setKeepSecret(event.currentTarget.checked)}
        />
        {command.problem && <CommandProblem problem={command.problem} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onCancel}>
            {messages.cancel}
          </Button>
          <Button type="submit" loading={command.isRunning}>
            {names.submit}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
