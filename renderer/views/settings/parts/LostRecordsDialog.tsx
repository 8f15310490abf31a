import { ConfirmDialog } from '../../../components/dialogs/ConfirmDialog.tsx';
import { type Localization, useLocalization } from '../../../messages/use-messages.ts';
import type { CommandRunner } from '../../../state/control/use-command.ts';
import type { LostRecords } from './lost-records.ts';

interface LostRecordsDialogProps {
  /** Null while there is nothing to confirm. */
  lost: LostRecords | null;
  command: CommandRunner;
  onConfirm(): void;
  onClose(): void;
}

/** Asks for confirmation before settings are saved that delete records. */
export function LostRecordsDialog({ lost, command, onConfirm, onClose }: LostRecordsDialogProps) {
  const localization = useLocalization();
  const names = localization.messages.settings.lost;
  return (
    <ConfirmDialog
      opened={lost !== null}
      title={names.title}
      text={lost ? describe(lost, localization) : ''}
      confirm={names.confirm}
      isRunning={command.isRunning}
      problem={command.problem}
      onConfirm={onConfirm}
      onClose={onClose}
    />
  );
}

function describe({ requests, allButNewest, capturesBeforeMs }: LostRecords, localization: Localization): string {
  const { messages, formats } = localization;
  const names = messages.settings.lost;
  const sentences = [
    requests && names.requests(requests.count, formats.number(requests.count), formats.fullMoment(requests.beforeMs)),
    allButNewest !== null && names.allButNewest(allButNewest, formats.number(allButNewest)),
    capturesBeforeMs !== null && names.captures(formats.fullMoment(capturesBeforeMs)),
    names.forGood,
  ];
  return sentences.filter(Boolean).join(formats.gap);
}
