/** How a group or key uses a cassette: a folder of recorded exchanges. */
import { z } from 'zod';

/** Names the test that a request belongs to: its recordings are kept apart from those of others. */
export const testHeader = 'x-sluice-test';

/**
 * `record`: providers answer, and recordings of equal requests are replaced. `replay`: recordings answer, and providers
 * are never asked. `replay-or-record`: recordings answer if they exist; all other answers are added.
 */
export const cassetteModes = ['record', 'replay', 'replay-or-record'] as const;
export type CassetteMode = (typeof cassetteModes)[number];

/** Absolute on POSIX or on Windows. A running gateway has no folder to which a relative path could refer. */
const absolutePath = /^(?:\/|[A-Za-z]:[\\/]|\\\\)/;

export function isAbsoluteFolder(path: string): boolean {
  return absolutePath.test(path);
}

export const cassetteSchema = z.strictObject({
  mode: z
    .enum(cassetteModes)
    .describe(
      '`record`: providers answer, and recordings of equal requests are replaced. `replay`: recordings answer, and providers are never asked. `replay-or-record`: recordings answer if they exist; all other answers are added.',
    ),
  folder: z
    .string()
    .trim()
    .max(4_096)
    .regex(absolutePath, 'use an absolute path')
    .describe('An absolute path. The folder is created when something is recorded.'),
});

export type CassetteChoice = z.infer<typeof cassetteSchema>;

/** The choice of a key: its own cassette, `off` even if its group has one, or null for the group's. */
export const keyCassetteSchema = z.union([z.literal('off'), cassetteSchema]);
export type KeyCassette = z.infer<typeof keyCassetteSchema>;

/** What a person sees of a cassette that they open. */
export interface CassetteContents {
  folder: string;
  /** The first ones, by name. */
  recordings: RecordingSummary[];
  total: number;
}

export interface RecordingSummary {
  /** The name of its file. */
  name: string;
  /** `POST /v1/chat/completions`; null if the file is no recording, or too large to look into. */
  call: string | null;
  model: string | null;
  status: number | null;
}

/**
 * A cassette that groups or keys use. Counting starts when it is opened: at its first request, or at the last rewind.
 */
export interface CassetteView extends CassetteChoice {
  /** Number of recordings when it was opened; null if it is not open. */
  recordings: number | null;
  hits: number;
  misses: number;
  recorded: number;
  /** Recordings that could not be written. */
  failed: number;
  /** Why it cannot be used at present, in English; null if it can. */
  problem: string | null;
}
