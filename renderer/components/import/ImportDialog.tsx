import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { ConfigChange, ImportRefusal } from '../../../server/contract/change-views.ts';
import { formatMessage } from '../../../server/contract/coded.ts';
import type { ConfigInput } from '../../../server/contract/config.ts';
import { useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { ModalFrame } from '../dialogs/ModalFrame.tsx';
import { CommandProblem } from '../feedback/CommandProblem.tsx';
import { ChangeList } from './ChangeList.tsx';
import classes from './ImportDialog.module.css';

export interface ImportPreview {
  fileName: string;
  config: ConfigInput;
  /** Revision of the configuration that the import was compared with. */
  revision: number;
  changes: ConfigChange[];
  refusals: ImportRefusal[];
  enteredAnew: string[];
}

/** Shows everything that an import would change before it runs, and afterwards which secrets are missing. */
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
  const isRefused = preview.refusals.length > 0;
  return (
    <Stack>
      {isRefused && <Refusals refusals={preview.refusals} />}
      <Text>{isEmpty ? names.importNothing(preview.fileName) : names.importText(preview.fileName)}</Text>
      {preview.enteredAnew.length > 0 && <CredentialsToEnter credentials={preview.enteredAnew} />}
      <ChangeList changes={preview.changes} />
      {command.problem && <CommandProblem problem={command.problem} />}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose} data-autofocus>
          {isEmpty || isRefused ? messages.close : messages.cancel}
        </Button>
        {!isEmpty && !isRefused && (
          <Button color="red.8" loading={command.isRunning} onClick={() => void apply()}>
            {names.importConfirm}
          </Button>
        )}
      </Group>
    </Stack>
  );
}

function CredentialsToEnter({ credentials }: { credentials: readonly string[] }) {
  const { team: names } = useMessages();
  return (
    <div className={classes.refusals}>
      <p>
        {names.anewTitle}. {names.anewText}
      </p>
      <ul>
        {credentials.map((credential) => (
          <li key={credential}>
            <code>{credential}</code>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Refusals({ refusals }: { refusals: readonly ImportRefusal[] }) {
  const { settings: names, controlProblems } = useMessages();
  return (
    <div role="alert" className={classes.refusals}>
      <p>{names.importRefused}</p>
      <ul>
        {refusals.map(({ provider, problem, message }) => (
          <li key={provider}>
            <code>{provider}</code>: {problem ? formatMessage(controlProblems, problem) : message}
          </li>
        ))}
      </ul>
    </div>
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
