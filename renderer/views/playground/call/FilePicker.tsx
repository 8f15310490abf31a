import { IconPaperclip, IconX } from '@tabler/icons-react';
import { ChooseFileButton } from '../../../components/buttons/ChooseFileButton.tsx';
import { IconAction } from '../../../components/buttons/IconAction.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import classes from '../Playground.module.css';

interface FilePickerProps {
  label: string;
  accept: string;
  file: File | null;
  onPick(file: File | null): void;
}

/** Chooses a file, shows its name, and lets the person remove it. */
export function FilePicker({ label, accept, file, onPick }: FilePickerProps) {
  const { playground: names } = useMessages();
  return (
    <div className={classes.pick}>
      <ChooseFileButton accept={accept} icon={<IconPaperclip size={14} />} onChoose={onPick}>
        {label}
      </ChooseFileButton>
      {file && (
        <>
          <span className={classes.fileName}>{file.name}</span>
          <IconAction label={names.removeFile(file.name)} icon={<IconX size={14} />} onClick={() => onPick(null)} />
        </>
      )}
    </div>
  );
}
