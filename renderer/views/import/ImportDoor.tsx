/**
 * Handles all imports, whatever their source: a chosen or dropped file, pasted text, or a link that the system hands
 * over. Only previews them; the person applies an import in its dialog.
 */
import { createContext, lazy, type ReactNode, Suspense, useContext, useState } from 'react';
import { asControlError, ControlError } from '../../api.ts';
import type { Messages } from '../../messages/en.ts';
import { useMessages } from '../../messages/use-messages.ts';
import type { ControlStore } from '../../state/control-store.ts';
import { useControlStore } from '../../state/use-control.ts';
import { useOpenedPresets } from '../../state/use-desktop.ts';
import { DropTarget } from './DropTarget.tsx';
import type { Opened } from './ImportDialogs.tsx';
import { type HandedOver, readImport } from './read-import.ts';

/** Shows what the import would change. Rejects with a `ControlError`. */
type OpenImport = (handed: HandedOver) => Promise<void>;

const ImportContext = createContext<OpenImport | null>(null);
const ImportDialogs = lazy(async () => ({ default: (await import('./ImportDialogs.tsx')).ImportDialogs }));

export function useOpenImport(): OpenImport {
  const open = useContext(ImportContext);
  if (!open) throw new Error('useOpenImport needs an ImportDoor around it');
  return open;
}

export function ImportDoor({ children }: { children: ReactNode }) {
  const { team: names } = useMessages();
  const store = useControlStore();
  const [opened, setOpened] = useState<Opened | null>(null);
  const open: OpenImport = async (handed) => setOpened(await examine(handed, store, names));
  const openOrTell = (handed: HandedOver) =>
    void open(handed).catch((error: unknown) => setOpened({ kind: 'problem', problem: asControlError(error) }));
  useOpenedPresets(({ fileName, text }) => {
    const name = fileName ?? names.link;
    if (text !== null) return openOrTell({ name, text });
    setOpened({ kind: 'problem', problem: new ControlError('window', names.unreadable(name)) });
  });
  return (
    <ImportContext value={open}>
      {children}
      <DropTarget onDrop={openOrTell} />
      <Suspense fallback={null}>{opened && <ImportDialogs opened={opened} onClose={() => setOpened(null)} />}</Suspense>
    </ImportContext>
  );
}

async function examine({ name, text }: HandedOver, { query }: ControlStore, names: Messages['team']): Promise<Opened> {
  const read = readImport(text);
  switch (read.kind) {
    case 'team-preset': {
      const preview = await query({ type: 'team-preset-preview', preset: read.preset });
      return { kind: 'team-preset', preset: { preset: read.preset, preview } };
    }
    case 'configuration': {
      const preview = await query({ type: 'import-preview', config: read.config });
      return { kind: 'configuration', preview: { fileName: name, config: read.config, ...preview } };
    }
    case 'not-json':
      throw new ControlError('window', names.notJson);
    case 'unknown':
      throw new ControlError('window', names.unknown);
  }
}
