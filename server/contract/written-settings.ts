/** Settings as found in files written for earlier versions: stored or exported configurations, team presets. */
import { z } from 'zod';
import { isObject } from './is-object.ts';
import { settingsSchema } from './settings.ts';

/** Settings that earlier versions had. */
type Retired = { runawayGuard?: unknown };
type Settings = z.input<typeof settingsSchema>;

/** A value that is not an object is returned unchanged; the schema refuses it. */
export function withoutRetiredSettings(settings: Settings & Retired): Settings {
  if (!isObject(settings)) return settings;
  const { runawayGuard: _, ...remaining } = settings;
  return remaining;
}

/** Drops retired settings. The format's version stays the same, so that an earlier Sluice can read the file. */
export const writtenSettingsSchema = z.preprocess(withoutRetiredSettings, settingsSchema);
