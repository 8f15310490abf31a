/**
 * Handles all imports, whatever their source: a chosen file, pasted text, or a link or file that the system
 * hands over. Only previews them; the person applies an import in its dialog.
 */
import { createContext, lazy, type ReactNode, Suspense, useContext, useState } from 'react';
import { isOwnFormat } from '../../../server/contract/change-views.ts';
import type { ConfigInput } from '../../../server/contract/config.ts';
import { isObject } from '../../../server/contract/is-object.ts';
import { useMessages } from '../../messages/use-messages.ts';
import { asControlError, ControlError } from '../../state/api/api.ts';
import type { ControlStore } from '../../state/control/control-store.ts';
import { useControlStore } from '../../state/control/use-control.ts';
import { useOpened } from '../../state/window/use-desktop.ts';
import type { ImportState } from './ImportDialogs.tsx';

/** A text to import. */
interface ImportSource {
  /** The name of the file, for display. */
  name: string;
  text: string;
}

/** Shows what the import would change. Rejects with a `ControlError`. */
type OpenImport = (source: ImportSource) => Promise<void>;

const ImportContext = createContext<OpenImport | null>(null);
const ImportDialogs = lazy(async () => ({ default: (await import('./ImportDialogs.tsx')).ImportDialogs }));

export function useOpenImport(): OpenImport {
  const open = useContext(ImportContext);
  if (!open) throw new Error('useOpenImport needs an ImportProvider around it');
  return open;
}

export function ImportProvider({ children }: { children: ReactNode }) {
  const { team: names } = useMessages();
  const store = useControlStore();
  const [importState, setImportState] = useState<ImportState | null>(null);
  const open: OpenImport = async (source) => setImportState(await previewImport(source, store));
  const openOrShowProblem = (source: ImportSource) =>
    void open(source).catch((error: unknown) => setImportState({ kind: 'problem', problem: asControlError(error) }));
  const showProblem = (text: string) => setImportState({ kind: 'problem', problem: new ControlError('window', text) });
  useOpened((opened) => {
    if (opened.kind === 'cassette') return setImportState(opened);
    if (opened.kind === 'refused') return showProblem(names.refusedLinks[opened.reason]);
    const name = opened.fileName ?? names.link;
    if (opened.text === null) showProblem(names.unreadable(name));
    else openOrShowProblem({ name, text: opened.text });
  });
  return (
    <ImportContext value={open}>
      {children}
      <Suspense fallback={null}>
        {importState && <ImportDialogs opened={importState} onClose={() => setImportState(null)} />}
      </Suspense>
    </ImportContext>
  );
}

async function previewImport({ name, text }: ImportSource, { query }: ControlStore): Promise<ImportState> {
  const imported = readImport(text);
  switch (imported.kind) {
    case 'team-preset': {
      const preview = await query({ type: 'team-preset-preview', preset: imported.preset });
      return { kind: 'team-preset', preset: { preset: imported.preset, preview } };
    }
    case 'configuration': {
      const preview = await query({ type: 'import-preview', config: imported.config });
      return { kind: 'configuration', preview: { fileName: name, config: imported.config, ...preview } };
    }
    case 'other': {
      const preview = await query({ type: 'adopt-preview', text });
      return { kind: 'other-program', adoption: { text, preview } };
    }
  }
}

type ParsedImport =
  | { kind: 'team-preset'; preset: object }
  | { kind: 'configuration'; config: ConfigInput }
  | { kind: 'other' };

/** Recognises the kind of a text, which the engine validates. It reads those of other programs too. */
function readImport(text: string): ParsedImport {
  const value = parse(text);
  if (!isObject(value) || !isOwnFormat(value)) return { kind: 'other' };
  if ('teamPreset' in value) return { kind: 'team-preset', preset: value };
  return isConfiguration(value) ? { kind: 'configuration', config: value } : { kind: 'other' };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    return undefined;
  }
}

function isConfiguration(value: object): value is ConfigInput {
  return 'version' in value;
}
