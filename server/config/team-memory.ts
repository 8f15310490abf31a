/**
 * What is remembered of team presets beside the configuration, which stays what it is without them: which managed preset was
 * applied last, and the one that a person has imported.
 */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { writtenTeamPresetSchema } from '../contract/team-preset.ts';
import { writeFileDurably } from '../files/durable-file.ts';
import { describeFileProblem, systemErrorCode } from '../files/file-problem.ts';
import { parseJson } from './parse-json.ts';

const memorySchema = z.strictObject({
  version: z.literal(1),
  /** SHA-256 of the managed preset that was applied last; null: none was. */
  applied: z.string().nullable(),
  imported: writtenTeamPresetSchema.nullable(),
});
export type TeamMemory = Omit<z.infer<typeof memorySchema>, 'version'>;

export interface TeamMemoryStore {
  readonly current: TeamMemory;
  /** Rejects with the system's error; then it is as before. */
  write(next: TeamMemory): Promise<void>;
}

const nothing: TeamMemory = { applied: null, imported: null };

/**
 * A file that cannot be read counts as none: its preset can be imported again.
 *
 * @param path null: kept in memory only
 */
export function openTeamMemory(path: string | null, notice: (line: string) => void): TeamMemoryStore {
  let current = path === null ? nothing : readMemory(path, notice);
  return {
    get current() {
      return current;
    },
    async write(next) {
      if (path !== null) await writeFileDurably(path, `${JSON.stringify({ version: 1, ...next }, null, 2)}\n`);
      current = next;
    },
  };
}

function readMemory(path: string, notice: (line: string) => void): TeamMemory {
  try {
    const { applied, imported } = memorySchema.parse(parseJson(readFileSync(path, 'utf8')));
    return { applied, imported };
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return nothing;
    const reason = error instanceof z.ZodError ? 'it is not as Sluice writes it' : describeFileProblem(error);
    notice(`${path} cannot be used: ${reason}. An imported team preset has to be imported again.`);
    return nothing;
  }
}
