/**
 * Where the desktop's settings lie, by electron-store: the engine's configuration, in the very file that the engine without
 * a desktop uses, and beside it what only the desktop has to remember. Knows the second one's shape and nothing of the
 * first.
 */
import { readFileSync } from 'node:fs';
import { dirname, parse } from 'node:path';
import ElectronStore from 'electron-store';
import { z } from 'zod';
import { createJsonFilePersistence } from '../server/config/json-file-persistence.ts';
import type { ConfigPersistence } from '../server/config/persistence.ts';
import { GatewayError } from '../server/contract/errors.ts';
import { windowLanguages } from '../server/contract/ipc.ts';

// The clean-up of the store's writes would swallow the signal; see `server/config/conf-persistence.ts`.
for (const signal of ['SIGABRT', 'SIGIOT'] as const) process.removeAllListeners(signal);

const placeSchema = z.object({ x: z.int(), y: z.int(), width: z.int().positive(), height: z.int().positive() });

const desktopSettingsSchema = z.object({
  /** By kind; those of other versions are kept, but ignored. */
  notifications: z.record(z.string(), z.boolean()).default({}),
  /** Of the window when it was last open; null: it never was. */
  language: z.enum(windowLanguages).nullable().default(null),
  /** Where the window was last, by the id of the display. */
  places: z.record(z.string(), placeSchema).default({}),
});
export type DesktopSettings = z.infer<typeof desktopSettingsSchema>;

export interface DesktopSettingsStore {
  readonly current: DesktopSettings;
  /** A change that a person made: written at once, or rejected with a GatewayError and not applied. */
  update(changes: Partial<DesktopSettings>): void;
  /** State that no person changed, such as a window position: written if possible, otherwise kept in memory. */
  remember(changes: Partial<DesktopSettings>): void;
}

/** Of the engine; the store is made at the first write, since a start only reads. */
export function openSettingsPersistence(path: string): ConfigPersistence {
  let store: ElectronStore | undefined;
  return createJsonFilePersistence(path, async (value) => {
    store ??= openStore(path, false);
    store.store = { ...value };
  });
}

/**
 * Values that are invalid or cannot be read count as not set, because none is worth refusing to start.
 *
 * @param notWritten called with the reason if such state could not be written
 */
export function openDesktopSettings(path: string, notWritten: (error: unknown) => void): DesktopSettingsStore {
  let current = readDesktopSettings(path);
  let store: ElectronStore | undefined;
  const write = (next: DesktopSettings) => {
    store ??= openStore(path, true);
    store.store = { ...next };
  };
  return {
    get current() {
      return current;
    },
    update(changes) {
      const next = { ...current, ...changes };
      try {
        write(next);
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        throw new GatewayError('storage_unavailable', `The desktop’s settings could not be written: ${why}`);
      }
      current = next;
    },
    remember(changes) {
      current = { ...current, ...changes };
      try {
        write(current);
      } catch (error) {
        notWritten(error);
      }
    },
  };
}

function readDesktopSettings(path: string): DesktopSettings {
  const stored = desktopSettingsSchema.safeParse(readJson(path));
  return stored.success ? stored.data : desktopSettingsSchema.parse({});
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

function openStore(path: string, clearInvalidConfig: boolean): ElectronStore {
  return new ElectronStore({
    cwd: dirname(path),
    name: parse(path).name,
    fileExtension: 'json',
    configFileMode: 0o600,
    clearInvalidConfig,
    accessPropertiesByDotNotation: false,
  });
}
