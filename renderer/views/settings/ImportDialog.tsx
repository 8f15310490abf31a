import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { ConfigInput } from '../../../server/contract/config.ts';
import type { ConfigChange } from '../../../server/contract/views.ts';
import { CommandProblem } from '../../components/CommandProblem.tsx';
import { ModalFrame } from '../../components/ModalFrame.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/use-command.ts';
import { ChangeList } from './ChangeList.tsx';

export interface ImportPreview {
  fileName: string;
  config: ConfigInput;
  /** Of the configuration that it was compared with. */
  revision: number;
  changes: ConfigChange[];
}

/** Shows everything that an import would change before it does, and afterwards which secrets are missing. */
export function ImportDialog({ preview, onClose }: { preview: ImportPreview | null; onClose(): void }) {
  const { settings: messages } = useMessages();
  return (
    <ModalFrame opened={preview !== null} onClose={onClose} title={messages.importTitle}>
      {preview && <ImportContent preview={preview} onClose={onClose} />}
    </ModalFrame>
  );
}

function ImportContent({ preview, onClose }: { preview: ImportPreview; onClose(): void }) {
  const messages = useMessages();
  const names = messages.settings;
  const command = useCommand();
  const [missing, setMissing] = useState<string[] | null>(null);
  const apply = async () => {
    const result = await command.run({
      type: 'config.import',
      config: preview.config,
      expectedRevision: preview.revision,
    });
    if (result) setMissing(result.missingSecrets);
  };
  if (missing) return <ImportDone missing={missing} onClose={onClose} />;
  const isEmpty = preview.changes.length === 0;
  return (
    <Stack>
      <Text>{isEmpty ? names.importNothing(preview.fileName) : names.importText(preview.fileName)}</Text>
      <ChangeList changes={preview.changes} />
      {command.problem && <CommandProblem problem={command.problem} />}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose} data-autofocus>
          {isEmpty ? messages.close : messages.cancel}
        </Button>
        {!isEmpty && (
          <Button color="red.8" loading={command.isRunning} onClick={() => void apply()}>
            {names.importConfirm}
          </Button>
        )}
      </Group>
    </Stack>
  );
}

function ImportDone({ missing, onClose }: { missing: string[]; onClose(): void }) {
  const { settings: names, done } = useMessages();
  return (
    <Stack>
      <Text role="status">{missing.length > 0 ? names.importMissing : names.importDone}</Text>
      {missing.length > 0 && (
        <ul>
          {missing.map((name) => (
            <li key={name}>
              <code>{name}</code>
            </li>
          ))}
        </ul>
      )}
      <Group justify="flex-end">
        <Button onClick={onClose}>{done}</Button>
      </Group>
    </Stack>
  );
}
