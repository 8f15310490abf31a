import { Button, Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheckFilled } from '@tabler/icons-react';
import { useState } from 'react';
import type { Connection } from '../../../server/contract/clients/client-guide.ts';
import type {
  ConnectClientView,
  ConnectFileChange,
  ConnectPreview,
  StrongerSetting,
} from '../../../server/contract/connect-views.ts';
import { shellWord } from '../../../server/contract/shell-words.ts';
import { ModalFrame } from '../../components/dialogs/ModalFrame.tsx';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { Section } from '../../components/layout/Section.tsx';
import { RelativeTime } from '../../components/text/RelativeTime.tsx';
import type { Messages } from '../../messages/en/en.ts';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import type { KeyChoice } from '../../state/choices/use-key-choice.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { useQuery } from '../../state/control/use-query.ts';
import { type CopiedKey, Snippet } from './ClientSteps.tsx';
import classes from './Connect.module.css';
import { TestOutcomeNote, useTestCall } from './TestCall.tsx';

interface ApplyPanelProps {
  view: ConnectClientView;
  connection: Connection;
  keyChoice: KeyChoice;
  copied: CopiedKey;
  /** Called after files were written. */
  onChanged(): void;
}

/** Writes the client's configuration file after showing the change, and can undo it. */
export function ApplyPanel({ view, connection, keyChoice, copied, onChanged }: ApplyPanelProps) {
  const {
    messages: { connect: messages },
    formats,
  } = useLocalization();
  const [dialog, setDialog] = useState<'apply' | 'undo' | null>(null);
  const [keyVariable, setKeyVariable] = useState<string | null>(null);
  const test = useTestCall(keyChoice, connection.model);
  const { applied } = view;
  const close = () => setDialog(null);
  const done = (variable: string | null) => {
    setKeyVariable(dialog === 'apply' ? variable : null);
    if (dialog === 'apply' && test.isPossible) void test.run();
    close();
    onChanged();
  };
  const canApply = keyChoice.key !== null && connection.model !== '';
  return (
    <Section title={messages.applyTitle}>
      <div className={classes.apply}>
        {applied && applied.stronger.length > 0 ? (
          <p className={classes.warning} role="status">
            <IconAlertTriangle size={16} className={classes.icon} aria-hidden />
            <span>{messages.appliedInVain(applied.model, formats.list(namesOf(applied.stronger, messages)))}</span>
          </p>
        ) : applied?.hasOldKey ? (
          <p className={classes.warning} role="status">
            <IconAlertTriangle size={16} className={classes.icon} aria-hidden />
            <span>{messages.appliedWithOldKey(view.name)}</span>
          </p>
        ) : applied ? (
          <p className={classes.applied} role="status">
            <IconCircleCheckFilled size={16} className={classes.arrived} aria-hidden />
            <RelativeTime moment={applied.appliedAt} phrase={(ago) => messages.applied(applied.model, ago)} />
          </p>
        ) : (
          <p className={classes.text}>{messages.applyLead(view.files.join(', '))}</p>
        )}
        <div className={classes.acts}>
          <Button
            size="xs"
            variant={applied && !applied.hasOldKey ? 'default' : 'filled'}
            disabled={!canApply}
            onClick={() => setDialog('apply')}
          >
            {applied?.hasOldKey && keyChoice.key
              ? messages.giveKey(keyChoice.key.name ?? keyChoice.key.id)
              : messages.reviewChange}
          </Button>
          {applied && (
            <Button size="xs" variant="default" onClick={() => setDialog('undo')}>
              {messages.undo}
            </Button>
          )}
        </div>
        {applied && <TestOutcomeNote outcome={test.outcome} model={connection.model} />}
        {applied && keyVariable !== null && (
          <>
            <p className={classes.text}>{messages.keyInEnvironment}</p>
            <Snippet
              code={`export ${keyVariable}=${shellWord(connection.key)}`}
              label={messages.snippetOf(view.name)}
              copied={copied}
            />
          </>
        )}
      </div>
      {dialog && (
        <ChangeDialog
          kind={dialog}
          view={view}
          model={connection.model}
          keyChoice={keyChoice}
          onClose={close}
          onDone={done}
        />
      )}
    </Section>
  );
}

interface ChangeDialogProps {
  kind: 'apply' | 'undo';
  view: ConnectClientView;
  model: string;
  keyChoice: KeyChoice;
  onClose(): void;
  /** Called after writing, with the environment variable that must contain the key, or null. */
  onDone(keyVariable: string | null): void;
}

/** Shows a change of a client's files, and makes it once the person confirms. */
function ChangeDialog({ kind, view, model, keyChoice, onClose, onDone }: ChangeDialogProps) {
  const messages = useMessages();
  const { connect: texts } = messages;
  const command = useCommand();
  const { client } = view;
  const key = keyChoice.key?.id ?? '';
  const connection = {
    client,
    key,
    model,
    ...(!keyChoice.key?.canReveal && keyChoice.secret && { secret: keyChoice.secret }),
  };
  const applying = useQuery<'connect-preview'>(kind === 'apply' ? { type: 'connect-preview', ...connection } : null);
  const undoing = useQuery<'connect-undo-preview'>(kind === 'undo' ? { type: 'connect-undo-preview', client } : null);
  const { answer: preview, problem, isRunning, refetch } = kind === 'apply' ? applying : undoing;
  const write = async ({ fingerprint, keyVariable }: ConnectPreview) => {
    const { result, problem: refusal } =
      kind === 'apply'
        ? await command.attempt({ type: 'connect.apply', ...connection, fingerprint })
        : await command.attempt({ type: 'connect.undo', client, fingerprint });
    if (result) onDone(keyVariable);
    else if (refusal?.problem?.code === 'client-file-changed') refetch();
  };
  const failure = command.problem ?? problem;
  return (
    <ModalFrame
      opened
      width="wide"
      onClose={onClose}
      title={kind === 'apply' ? texts.applyDialog(view.name) : texts.undoDialog(view.name)}
    >
      <Stack>
        {preview && <PreviewedFiles preview={preview} model={kind === 'apply' ? model : null} />}
        {failure && <CommandProblem problem={failure} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} data-autofocus>
            {messages.cancel}
          </Button>
          <Button
            loading={command.isRunning || isRunning}
            disabled={!preview}
            onClick={() => preview && void write(preview)}
          >
            {kind === 'apply' ? texts.apply : texts.undoNow}
          </Button>
        </Group>
      </Stack>
    </ModalFrame>
  );
}

/** `model`: the model used after the change; null for an undo. */
function PreviewedFiles({ preview, model }: { preview: ConnectPreview; model: string | null }) {
  const {
    messages: { connect: texts },
    formats,
  } = useLocalization();
  const { files, keyVariable, keyFile, overruled, stronger } = preview;
  const inFile = keyFile === null ? texts.keyInFile : texts.keyInOwnFile(keyFile);
  const keyInfo = keyVariable === null ? inFile : texts.keyFromVariable(keyVariable);
  return (
    <>
      {files.length === 0 && <Text>{texts.filesGone}</Text>}
      {files.map((file) => (
        <FileChange key={file.path} file={file} />
      ))}
      {overruled.length > 0 && <Warning text={texts.overruled(formats.list(namesOf(overruled, texts)))} />}
      {stronger.length > 0 && <Warning text={texts.stronger(formats.list(namesOf(stronger, texts)))} />}
      {model !== null && (
        <Text size="sm" c="dimmed">
          {[keyInfo, texts.backup, texts.testFollows(model)].join(formats.gap)}
        </Text>
      )}
    </>
  );
}

/** Settings with the places in which they are. */
function namesOf(settings: readonly StrongerSetting[], texts: Messages['connect']): string[] {
  return settings.map(({ place, setting }) =>
    place === null ? texts.settingOfEnvironment(setting) : texts.settingIn(setting, place),
  );
}

function Warning({ text }: { text: string }) {
  return (
    <p className={classes.warning}>
      <IconAlertTriangle size={16} className={classes.icon} aria-hidden />
      <span>{text}</span>
    </p>
  );
}

function FileChange({ file: { path, action, diff } }: { file: ConnectFileChange }) {
  const { connect: texts } = useMessages();
  return (
    <div>
      <p className={classes.text}>
        <code>{path}</code> – {texts.actions[action]}
      </p>
      {diff !== '' && (
        <pre className={classes.diff}>
          {linesOf(diff).map(({ start, line }) => (
            <span key={start} className={lineClass(line)}>{`${line}\n`}</span>
          ))}
        </pre>
      )}
    </div>
  );
}

/** The lines after the two with the file names, with the offset of each. */
function linesOf(diff: string): { start: number; line: string }[] {
  let start = 0;
  const lines = diff.split('\n').map((line) => {
    const withStart = { start, line };
    start += line.length + 1;
    return withStart;
  });
  return lines.slice(2, -1);
}

function lineClass(line: string): string | undefined {
  if (line.startsWith('+')) return classes.added;
  return line.startsWith('-') ? classes.removed : undefined;
}
