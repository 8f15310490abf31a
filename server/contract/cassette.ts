/** What a group or key does with a cassette: a folder of recorded exchanges. */
import { z } from 'zod';

/**
 * `record`: providers answer, and recordings of equal requests are replaced. `replay`: recordings answer, providers are never
 * asked. `replay-or-record`: recordings answer where there are any; all other answers are added.
 */
export const cassetteModes = ['record', 'replay', 'replay-or-record'] as const;
export type CassetteMode = (typeof cassetteModes)[number];

/** Of a POSIX system or of Windows. A running gateway has no folder of its own that a relative path could begin at. */
const absolutePath = /^(?:\/|[A-Za-z]:[\\/]|\\\\)/;

export function isAbsoluteFolder(path: string): boolean {
  return absolutePath.test(path);
}

export const cassetteSchema = z.strictObject({
  mode: z.enum(cassetteModes),
  /** An absolute path. Created when something is recorded. */
  folder: z.string().trim().max(4_096).regex(absolutePath, 'use an absolute path'),
});

export type CassetteChoice = z.infer<typeof cassetteSchema>;

/** Of a key: its own, `off` even if its group has one, or null for its group's. */
export const keyCassetteSchema = z.union([z.literal('off'), cassetteSchema]);
export type KeyCassette = z.infer<typeof keyCassetteSchema>;

/** A cassette that groups or keys use. The counts begin when it is opened: at its first request, or at the last rewind. */
export interface CassetteView extends CassetteChoice {
  /** The recordings when it was opened; null: it is not open. */
  recordings: number | null;
  hits: number;
  misses: number;
  recorded: number;
  /** Could not be written. */
  failed: number;
  /** Why it cannot be used at present, in English; null: nothing is wrong. */
  problem: string | null;
}
