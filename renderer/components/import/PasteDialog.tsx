import { Button, Group, Stack, Textarea } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { isSluiceLink, readPresetLink } from '../../../server/contract/sluice-link.ts';
import { useMessages } from '../../messages/use-messages.ts';
import { asControlError, ControlError } from '../../state/api/api.ts';
import { ModalFrame } from '../dialogs/ModalFrame.tsx';
import { CommandProblem } from '../feedback/CommandProblem.tsx';
import { useOpenImport } from './ImportProvider.tsx';

interface PasteDialogProps {
  opened: boolean;
  title: string;
  /** What may be pasted. */
  label: string;
  onClose(): void;
}

/** Takes the text of an import, or a link that holds it, and shows what it would change. */
export function PasteDialog({ opened, title, label, onClose }: PasteDialogProps) {
  return (
    <ModalFrame opened={opened} onClose={onClose} title={title}>
      <PasteForm label={label} onDone={onClose} />
    </ModalFrame>
  );
}

function PasteForm({ label, onDone }: { label: string; onDone(): void }) {
  const { team: names, cancel } = useMessages();
  const openImport = useOpenImport();
  const [pasted, setPasted] = useState('');
  const [problem, setProblem] = useState<ControlError | null>(null);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    try {
      await openImport({ name: names.pasted, text: textOf(pasted.trim(), names.unreadable(names.link)) });
      onDone();
    } catch (error) {
      setProblem(asControlError(error));
    }
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="sm">
        <Textarea
          label={label}
          value={pasted}
          onChange={(event) => setPasted(event.currentTarget.value)}
          autosize
          minRows={5}
          maxRows={14}
          spellCheck={false}
          autoComplete="off"
          data-autofocus
        />
        {problem && <CommandProblem problem={problem} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onDone}>
            {cancel}
          </Button>
          <Button type="submit" disabled={pasted.trim() === ''}>
            {names.pasteNext}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function textOf(pasted: string, unreadable: string): string {
  if (!isSluiceLink(pasted)) return pasted;
  const text = readPresetLink(pasted);
  if (text === null) throw new ControlError('window', unreadable);
  return text;
}
