import { IconFileImport } from '@tabler/icons-react';
import { useEffect, useEffectEvent, useState } from 'react';
import { useMessages } from '../../messages/use-messages.ts';
import classes from './DropTarget.module.css';
import type { HandedOver } from './read-import.ts';

/** Accepts a JSON file dropped anywhere on the window, with a hint while one is dragged over it. */
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

/** Whether an acceptable file is being dragged over the window. */
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
      // Otherwise the browser would open the file in place of the window.
      event.preventDefault();
      setHeld(true);
    };
    const leave = (event: DragEvent) => {
      // A related target means that the pointer only moved to another element of the page.
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

/** A single JSON file. The type is empty if the system does not know it. */
function isHeldFile({ dataTransfer }: DragEvent): boolean {
  const items = [...(dataTransfer?.items ?? [])].filter(({ kind }) => kind === 'file');
  return items.length === 1 && ['application/json', ''].includes(items[0]?.type ?? 'none');
}
