import { Button, FileButton } from '@mantine/core';
import { IconDownload, IconUpload } from '@tabler/icons-react';
import { useState } from 'react';
import type { ConfigInput } from '../../../server/contract/config.ts';
import { ControlError } from '../../api.ts';
import { CommandProblem } from '../../components/CommandProblem.tsx';
import { Section } from '../../components/Section.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useCanChange } from '../../state/use-can-change.ts';
import { useControlStore } from '../../state/use-control.ts';
import { downloadJson } from './download.ts';
import { ImportDialog, type ImportPreview } from './ImportDialog.tsx';
import classes from './Settings.module.css';

/** The whole configuration out to a file and in from one, never with secrets. */
export function TransferPart() {
  const { settings: messages } = useMessages();
  const store = useControlStore();
  const canChange = useCanChange();
  const [preview, setPreview] = useState<ImportPreview | null>(null);
  const [problem, setProblem] = useState<ControlError | null>(null);
  const attempt = async (act: () => Promise<void>) => {
    setProblem(null);
    await act().catch((error: unknown) => setProblem(asControlError(error)));
  };
  const exportConfig = () =>
    attempt(async () => downloadJson('sluice-config.json', (await store.query({ type: 'config' })).config));
  const chooseFile = (file: File | null) =>
    attempt(async () => {
      if (!file) return;
      const config = await readConfig(file, messages.importNoJson);
      setPreview({ fileName: file.name, config, ...(await store.query({ type: 'import-preview', config })) });
    });
  return (
    <Section title={messages.parts.transfer}>
      <div className={classes.form}>
        <p className={classes.text}>{messages.transferHint}</p>
        <div className={classes.acts}>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconDownload size={14} />}
            onClick={() => void exportConfig()}
          >
            {messages.export}
          </Button>
          <FileButton onChange={(file) => void chooseFile(file)} accept="application/json,.json">
            {(props) => (
              <Button
                {...props}
                size="xs"
                variant="default"
                disabled={!canChange}
                leftSection={<IconUpload size={14} />}
              >
                {messages.import}
              </Button>
            )}
          </FileButton>
        </div>
        {problem && <CommandProblem problem={problem} />}
      </div>
      <ImportDialog preview={preview} onClose={() => setPreview(null)} />
    </Section>
  );
}

/** What it is, the engine checks. */
async function readConfig(file: File, noJson: string): Promise<ConfigInput> {
  try {
    return JSON.parse(await file.text());
  } catch {
    throw new ControlError('not_json', noJson);
  }
}

function asControlError(error: unknown): ControlError {
  return error instanceof ControlError ? error : new ControlError(null, String(error));
}
