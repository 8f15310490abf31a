import { Button } from '@mantine/core';
import { IconClipboard, IconDownload, IconUpload } from '@tabler/icons-react';
import { useState } from 'react';
import { ChooseFileButton } from '../../../components/buttons/ChooseFileButton.tsx';
import { downloadJson } from '../../../components/buttons/download.ts';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { useOpenImport } from '../../../components/import/ImportProvider.tsx';
import { PasteDialog } from '../../../components/import/PasteDialog.tsx';
import { Section } from '../../../components/layout/Section.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { asControlError, type ControlError } from '../../../state/api/api.ts';
import { useControlStore } from '../../../state/control/use-control.ts';
import { useCanChange } from '../../../state/rights/use-rights.ts';
import classes from '../Settings.module.css';

/** Exports the whole configuration to a file and imports it from one, without secrets. */
export function TransferPart() {
  const { settings: messages, adopt } = useMessages();
  const store = useControlStore();
  const canChange = useCanChange();
  const openImport = useOpenImport();
  const [isPasting, setPasting] = useState(false);
  const [problem, setProblem] = useState<ControlError | null>(null);
  const attempt = async (action: () => Promise<void>) => {
    setProblem(null);
    await action().catch((error: unknown) => setProblem(asControlError(error)));
  };
  const exportConfig = () =>
    attempt(async () => downloadJson('sluice-config.json', (await store.query({ type: 'config' })).config));
  const chooseFile = (file: File) => attempt(async () => openImport({ name: file.name, text: await file.text() }));
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
          <ChooseFileButton
            icon={<IconUpload size={14} />}
            disabled={!canChange}
            onChoose={(file) => void chooseFile(file)}
          >
            {messages.import}
          </ChooseFileButton>
          <Button
            size="xs"
            variant="default"
            disabled={!canChange}
            leftSection={<IconClipboard size={14} />}
            onClick={() => setPasting(true)}
          >
            {adopt.paste}
          </Button>
        </div>
        <PasteDialog
          opened={isPasting}
          title={adopt.pasteTitle}
          label={adopt.pasteLabel}
          onClose={() => setPasting(false)}
        />
        {problem && <CommandProblem problem={problem} />}
      </div>
    </Section>
  );
}
