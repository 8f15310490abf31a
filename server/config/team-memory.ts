import { z } from 'zod';
import { isObject } from '../contract/is-object.ts';
import { describeRemovedFields } from '../contract/removed-features.ts';
import { writtenTeamPresetSchema } from '../contract/team-preset.ts';
import { writeFileDurably } from '../ground/files/durable-file.ts';
import { describeFileProblem, readRegularFileSync, systemErrorCode } from '../ground/files/regular-file.ts';
import { parseConfigJson } from './check-config.ts';

const memorySchema = z.strictObject({
  version: z.literal(1),
  /** SHA-256 of the last applied managed preset; null if there was none. */
  applied: z.string().nullable(),
  imported: writtenTeamPresetSchema.nullable(),
  /**
   * Origin of the team gateway that offered the imported preset: `https://gateway.example`. Absent if it came from
   * elsewhere.
   */
  gateway: z.string().exactOptional(),
});
export type TeamMemory = Omit<z.infer<typeof memorySchema>, 'version'>;

export interface TeamMemoryStore {
  readonly current: TeamMemory;
  /** What the file still said of removed features when it was read, one sentence for each field. */
  readonly removed: readonly string[];
  /** On failure, rejects with the system's error and changes nothing. */
  write(next: TeamMemory): Promise<void>;
}

const nothing: TeamMemory = { applied: null, imported: null };

/**
 * An unreadable file counts as empty; the preset can be imported again.
 *
 * @param path null if nothing is stored
 */
export function openTeamMemory(path: string | null, notice: (line: string) => void): TeamMemoryStore {
  const read = path === null ? { memory: nothing, removed: [] } : readMemory(path, notice);
  let current = read.memory;
  read.removed.forEach(notice);
  return {
    removed: read.removed,
    get current() {
      return current;
    },
    async write(next) {
      if (path !== null) await writeFileDurably(path, `${JSON.stringify({ version: 1, ...next }, null, 2)}\n`);
      current = next;
    },
  };
}

function readMemory(path: string, notice: (line: string) => void): { memory: TeamMemory; removed: string[] } {
  const empty = { memory: nothing, removed: [] };
  try {
    const written = parseConfigJson(readRegularFileSync(path));
    const { version: _, ...memory } = memorySchema.parse(written);
    const removed = isObject(written) ? describeRemovedFields(written.imported, `the imported preset of ${path}`) : [];
    return { memory, removed };
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return empty;
    const reason = error instanceof z.ZodError ? 'it is not as Sluice writes it' : describeFileProblem(error);
    notice(`${path} cannot be used: ${reason}. An imported team preset has to be imported again.`);
    return empty;
  }
}
