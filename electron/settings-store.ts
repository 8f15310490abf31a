/**
 * Stores settings with electron-store: the engine's configuration, in the same file that the headless engine uses, and the
 * desktop's own settings beside it. Knows the format of the latter only.
 */
import { readFileSync } from 'node:fs';
import { dirname, parse } from 'node:path';
import ElectronStore from 'electron-store';
import { z } from 'zod';
import { type ConfigPersistence, createJsonFilePersistence } from '../server/config/persistence.ts';
import { GatewayError } from '../server/contract/errors.ts';
import { windowLanguages } from '../server/contract/ipc.ts';

// electron-store's dependency `atomically` handles these signals and would swallow them; see `server/config/persistence.ts`.
for (const signal of ['SIGABRT', 'SIGIOT'] as const) process.removeAllListeners(signal);

const boundsSchema = z.object({ x: z.int(), y: z.int(), width: z.int().positive(), height: z.int().positive() });

const desktopSettingsSchema = z.object({
  /** By kind. Kinds of other versions are kept but ignored. */
  notifications: z.record(z.string(), z.boolean()).default({}),
  /** Language of the window when it was last open; null if it was never opened. */
  language: z.enum(windowLanguages).nullable().default(null),
  /** The keys that show or hide the window, as an Electron accelerator; null for none. */
  hotkey: z.string().nullable().default(null),
  /** Whether today's cost stands beside the tray's icon. */
  trayCost: z.boolean().default(false),
  /** Last bounds of the window, by display id. */
  places: z.record(z.string(), boundsSchema).default({}),
});
export type DesktopSettings = z.infer<typeof desktopSettingsSchema>;

export interface DesktopSettingsStore {
  readonly current: DesktopSettings;
  /** For changes that the user made: writes them at once, or throws a GatewayError and changes nothing. */
  update(changes: Partial<DesktopSettings>): void;
  /** For changes that happen by the way, such as a moved window: if writing fails, they are lost when Sluice ends. */
  remember(changes: Partial<DesktopSettings>): void;
}

/** Persistence of the engine's configuration. The store is created at the first write, since startup only reads. */
export function createSettingsPersistence(path: string): ConfigPersistence {
  let store: ElectronStore | undefined;
  return createJsonFilePersistence(path, async (value) => {
    store ??= openStore(path, false);
    store.store = { ...value };
  });
}

/**
 * A file that is invalid or cannot be read counts as empty, since none of these settings is worth refusing to start.
 *
 * @param notWritten called with the error if `remember` could not write
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
        const message = error instanceof Error ? error.message : String(error);
        throw new GatewayError('storage_unavailable', `The desktop’s settings could not be written: ${message}`);
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
