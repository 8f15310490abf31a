import { IconFileImport } from '@tabler/icons-react';
import { useEffect, useEffectEvent, useState } from 'react';
import { useMessages } from '../../messages/use-messages.ts';
import classes from './DropTarget.module.css';
import type { ImportSource } from './read-import.ts';

/** Accepts a JSON file dropped anywhere on the window, with a hint while one is dragged over it. */
export function DropTarget({ onDrop }: { onDrop(source: ImportSource): void }) {
  const { team: names } = useMessages();
  const isDragging = useFileDrop(async (file) => onDrop({ name: file.name, text: await file.text() }));
  if (!isDragging) return null;
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
function useFileDrop(onFile: (file: File) => void): boolean {
  const [isDragging, setDragging] = useState(false);
  const drop = useEffectEvent((event: DragEvent) => {
    setDragging(false);
    const file = event.dataTransfer?.files[0];
    if (!file || !isJsonFile(event)) return;
    event.preventDefault();
    onFile(file);
  });
  useEffect(() => {
    const acceptDrag = (event: DragEvent) => {
      if (!isJsonFile(event)) return;
      // Otherwise the browser would open the file in place of the window.
      event.preventDefault();
      setDragging(true);
    };
    const endDrag = (event: DragEvent) => {
      // A related target means that the pointer only moved to another element of the page.
      if (event.relatedTarget === null) setDragging(false);
    };
    addEventListener('dragenter', acceptDrag);
    addEventListener('dragover', acceptDrag);
    addEventListener('dragleave', endDrag);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragenter', acceptDrag);
      removeEventListener('dragover', acceptDrag);
      removeEventListener('dragleave', endDrag);
      removeEventListener('drop', drop);
    };
  }, []);
  return isDragging;
}

/** A single JSON file. The type is empty if the system does not know it. */
function isJsonFile({ dataTransfer }: DragEvent): boolean {
  const items = [...(dataTransfer?.items ?? [])].filter(({ kind }) => kind === 'file');
  return items.length === 1 && ['application/json', ''].includes(items[0]?.type ?? 'none');
}
