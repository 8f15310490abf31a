import { useMessages } from '../../messages/use-messages.ts';
import { ModalFrame } from '../dialogs/ModalFrame.tsx';
import { type PresetImport, PresetReview } from './PresetReview.tsx';

interface PresetDialogProps {
  preset: PresetImport;
  onClose(): void;
}

export function PresetDialog({ preset, onClose }: PresetDialogProps) {
  const { team: names } = useMessages();
  return (
    <ModalFrame opened onClose={onClose} title={names.title}>
      <PresetReview preset={preset} onClose={onClose} />
    </ModalFrame>
  );
}
