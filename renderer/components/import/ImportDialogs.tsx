import { Button, Group, Stack } from '@mantine/core';
import type { CassetteContents } from '../../../server/contract/cassette.ts';
import { useMessages } from '../../messages/use-messages.ts';
import type { ControlError } from '../../state/api/api.ts';
import { ModalFrame } from '../dialogs/ModalFrame.tsx';
import { CommandProblem } from '../feedback/CommandProblem.tsx';
import { AdoptDialog, type Adoption } from './AdoptDialog.tsx';
import { CassetteDialog } from './CassetteDialog.tsx';
import { ImportDialog, type ImportPreview } from './ImportDialog.tsx';
import { PresetDialog } from './PresetDialog.tsx';
import type { PresetImport } from './PresetReview.tsx';

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
