import { IconFileImport } from '@tabler/icons-react';
import { useEffect, useEffectEvent, useState } from 'react';
import { useMessages } from '../../messages/use-messages.ts';
import classes from './DropTarget.module.css';
import type { HandedOver } from './read-import.ts';

/** The whole window takes a JSON file that is dropped on it, and shows so while one is held over it. */
export function DropTarget({ onDrop }: { onDrop(handed: HandedOver): void }) {
  const { team: names } = useMessages();
  const isHeld = useFileDrop(async (file) => onDrop({ name: file.name, text: await file.text() }));
  if (!isHeld) return null;
  return (
    <div className={classes.target} role="status">
      <p className={classes.cue}>
        <IconFileImport size={32} aria-hidden />
        <strong>{names.drop}</strong>
        <span className={classes.hint}>{names.dropHint}</span>
      </p>
    </div>
  );
}

/** Whether a file that could be taken is held over the window. */
function useFileDrop(take: (file: File) => void): boolean {
  const [isHeld, setHeld] = useState(false);
  const drop = useEffectEvent((event: DragEvent) => {
    setHeld(false);
    const file = event.dataTransfer?.files[0];
    if (!file || !isHeldFile(event)) return;
    event.preventDefault();
    take(file);
  });
  useEffect(() => {
    const hold = (event: DragEvent) => {
      if (!isHeldFile(event)) return;
      // Else the browser would open it in place of the window.
      event.preventDefault();
      setHeld(true);
    };
    const leave = (event: DragEvent) => {
      // From one element of the page to the next it stays within.
      if (event.relatedTarget === null) setHeld(false);
    };
    addEventListener('dragenter', hold);
    addEventListener('dragover', hold);
    addEventListener('dragleave', leave);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragenter', hold);
      removeEventListener('dragover', hold);
      removeEventListener('dragleave', leave);
      removeEventListener('drop', drop);
    };
  }, []);
  return isHeld;
}

/** One JSON file; of some the system does not tell the kind. */
function isHeldFile({ dataTransfer }: DragEvent): boolean {
  const items = [...(dataTransfer?.items ?? [])].filter(({ kind }) => kind === 'file');
  return items.length === 1 && ['application/json', ''].includes(items[0]?.type ?? 'none');
}
