/** Recognises the kind of an imported text. The engine validates it. Pure. */
import type { ConfigInput } from '../../../server/contract/config.ts';

/** A text to import. */
export interface ImportSource {
  /** The name of the file, for display. */
  name: string;
  text: string;
}

type ParsedImport =
  | { kind: 'team-preset'; preset: object }
  | { kind: 'configuration'; config: ConfigInput }
  | { kind: 'not-json' | 'unknown' };

export function readImport(text: string): ParsedImport {
  const value = parse(text);
  if (value === undefined) return { kind: 'not-json' };
  if (typeof value !== 'object' || value === null) return { kind: 'unknown' };
  if ('teamPreset' in value) return { kind: 'team-preset', preset: value };
  return isConfiguration(value) ? { kind: 'configuration', config: value } : { kind: 'unknown' };
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
