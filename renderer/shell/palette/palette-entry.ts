import type { Icon } from '@tabler/icons-react';
import type { Messages } from '../../messages/en/en.ts';

export type SectionName = keyof Messages['palette']['sections'];

export interface PaletteEntry {
  /** Stable, so that the entry is recognised as recent. Contains no secret. */
  id: string;
  section: SectionName;
  label: string;
  /** Shown beside the label, to distinguish similar entries. */
  detail?: string | null;
  /** Other words by which it is found. */
  words?: string;
  /** For a secondary entry of something else that is listed: the words of what it does. Found only by one of them. */
  action?: string;
  Icon: Icon;
  /** Why it cannot be run now; null if it can. */
  blocked?: string | null;
  act: PaletteAct;
}

type PaletteAct =
  /** Navigates after the palette has closed. */
  | { href: string }
  /** Runs at once, after the palette has closed. */
  | { run(): void }
  /** The palette stays open until the promise resolves with a message to announce. Rejects with a `ControlError`. */
  | { work(): Promise<string> };
