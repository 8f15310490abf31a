/**
 * Where the desktop's settings lie, by electron-store: the engine's configuration, in the very file that the engine without
 * a desktop uses, and beside it what only the desktop has to remember. Knows the second one's shape and nothing of the
 * first.
 */
import { dirname, parse } from 'node:path';
import ElectronStore from 'electron-store';
import { z } from 'zod';
import { createJsonFilePersistence } from '../server/config/json-file-persistence.ts';
import type { ConfigPersistence } from '../server/config/persistence.ts';
import { notificationKinds } from '../server/contract/ipc.ts';

const placeSchema = z.object({ x: z.int(), y: z.int(), width: z.int().positive(), height: z.int().positive() });

const desktopSettingsSchema = z.object({
  notifications: z.partialRecord(z.enum(notificationKinds), z.boolean()).default({}),
  /** Where the window was last, by the id of the display. */
  places: z.record(z.string(), placeSchema).default({}),
});
export type DesktopSettings = z.infer<typeof desktopSettingsSchema>;

export interface DesktopSettingsStore {
  readonly current: DesktopSettings;
  /** Written at once. */
  update(changes: Partial<DesktopSettings>): void;
}

/** Of the engine; the store is made at the first write, since a start only reads. */
export function openSettingsPersistence(path: string): ConfigPersistence {
  let store: ElectronStore | undefined;
  return createJsonFilePersistence(path, async (value) => {
    store ??= openStore(path, false);
    store.store = { ...value };
  });
}

/** What is not as it should be counts as not set: none of it is worth refusing to start. */
export function openDesktopSettings(path: string): DesktopSettingsStore {
  const store = openStore(path, true);
  const stored = desktopSettingsSchema.safeParse(store.store);
  let current = stored.success ? stored.data : desktopSettingsSchema.parse({});
  return {
    get current() {
      return current;
    },
    update(changes) {
      current = { ...current, ...changes };
      store.store = { ...current };
    },
  };
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
