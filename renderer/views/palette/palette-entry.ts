import type { Icon } from '@tabler/icons-react';
import type { Messages } from '../../messages/en.ts';

export type SectionName = keyof Messages['palette']['sections'];

export interface PaletteEntry {
  /** The same each time the palette opens, so that it is known again as recent. Holds no secret. */
  id: string;
  section: SectionName;
  label: string;
  /** Beside it, to tell it from others. */
  detail?: string | null;
  /** What else it is found by. */
  words?: string;
  Icon: Icon;
  /** Why it cannot be done now; null: it can. */
  blocked?: string | null;
  act: PaletteAct;
}

export type PaletteAct =
  /** Goes there, after the palette has closed. */
  | { href: string }
  /** Done at once, after the palette has closed. */
  | { run(): void }
  /** The palette stays until it is done, then says what was done. Rejects with a `ControlError`. */
  | { work(): Promise<string> };
