import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { CassetteContents } from '../../../server/contract/cassette.ts';
import type { ConfigChange, ImportRefusal } from '../../../server/contract/change-views.ts';
import { formatMessage } from '../../../server/contract/coded.ts';
import type { ConfigInput } from '../../../server/contract/config.ts';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import type { ControlError } from '../../state/api/api.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { ModalFrame } from '../dialogs/ModalFrame.tsx';
import { CommandProblem } from '../feedback/CommandProblem.tsx';
import { AdoptDialog, type Adoption } from './AdoptDialog.tsx';
import { ChangeList } from './ChangeList.tsx';
import classes from './ImportDialogs.module.css';
import { type PresetImport, PresetReview } from './PresetReview.tsx';

export type ImportState =
  | { kind: 'configuration'; preview: ImportPreview }
  | { kind: 'team-preset'; preset: PresetImport }
  | { kind: 'other-program'; adoption: Adoption }
  | { kind: 'cassette'; cassette: CassetteContents }
  | { kind: 'problem'; problem: ControlError };

interface ImportDialogsProps {
  opened: ImportState;
  onClose(): void;
}

/** Shows an import before it is applied. Loaded on first use. */
export function ImportDialogs({ opened, onClose }: ImportDialogsProps) {
  const { team: names, close } = useMessages();
  switch (opened.kind) {
    case 'configuration':
      return <ImportDialog preview={opened.preview} onClose={onClose} />;
    case 'team-preset':
      return <PresetDialog preset={opened.preset} onClose={onClose} />;
    case 'other-program':
      return <AdoptDialog adoption={opened.adoption} onClose={onClose} />;
    case 'cassette':
      return <CassetteDialog cassette={opened.cassette} onClose={onClose} />;
    case 'problem':
      return (
        <ModalFrame opened onClose={onClose} title={names.problemTitle}>
          <Stack>
            <CommandProblem problem={opened.problem} />
            <Group justify="flex-end">
              <Button variant="default" onClick={onClose} data-autofocus>
                {close}
              </Button>
            </Group>
          </Stack>
        </ModalFrame>
      );
  }
}

interface ImportPreview {
  fileName: string;
  config: ConfigInput;
  /** Revision of the configuration that the import was compared with. */
  revision: number;
  changes: ConfigChange[];
  refusals: ImportRefusal[];
  enteredAnew: string[];
}

/** Shows everything that an import would change before it runs, and afterwards which secrets are missing. */
function ImportDialog({ preview, onClose }: { preview: ImportPreview | null; onClose(): void }) {
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

interface CassetteDialogProps {
  cassette: CassetteContents;
  onClose(): void;
}

/** The recordings of a cassette that the system opened with Sluice. It only shows them: replay is switched on elsewhere. */
function CassetteDialog({ cassette, onClose }: CassetteDialogProps) {
  const { messages, formats } = useLocalization();
  const { opened: names, holds } = messages.cassettes;
  const { folder, recordings, total } = cassette;
  const left = total - recordings.length;
  return (
    <ModalFrame opened onClose={onClose} title={names.title} width="wide">
      <Stack gap="sm">
        <div>
          <span className={classes.folder}>{folder}</span>
          <Text c="dimmed">{total === 0 ? names.empty : holds(total, formats.number(total))}</Text>
        </div>
        <Text>{names.onlyShown}</Text>
        {recordings.length > 0 && (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a long list is scrolled by the keyboard, too
          <ul className={classes.recordings} aria-label={names.recordings} tabIndex={0}>
            {recordings.map(({ name, call, model, status }) => (
              <li key={name} className={classes.recording} title={name}>
                <span className={classes.call}>{call ?? names.unread(name)}</span>
                <span>{model}</span>
                <span>{status}</span>
              </li>
            ))}
          </ul>
        )}
        {left > 0 && <Text c="dimmed">{names.more(formats.number(left))}</Text>}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            {messages.close}
          </Button>
        </Group>
      </Stack>
    </ModalFrame>
  );
}

interface PresetDialogProps {
  preset: PresetImport;
  onClose(): void;
}

function PresetDialog({ preset, onClose }: PresetDialogProps) {
  const { team: names } = useMessages();
  return (
    <ModalFrame opened onClose={onClose} title={names.title}>
      <PresetReview preset={preset} onClose={onClose} />
    </ModalFrame>
  );
}
