/** Settings as a file may hold them: one that an earlier Sluice stored or exported, or a team preset written for it. */
import { z } from 'zod';
import { isObject } from './is-object.ts';
import { settingsSchema } from './settings.ts';

/** Settings that earlier versions had. */
type Retired = { runawayGuard?: unknown };
type Settings = z.input<typeof settingsSchema>;

/** What is not an object passes as it is, for the schema to judge. */
export function withoutRetiredSettings(settings: Settings & Retired): Settings {
  if (!isObject(settings)) return settings;
  const { runawayGuard: _, ...kept } = settings;
  return kept;
}

/** Leaves out what is retired. No new version of the shape: an earlier Sluice can read what this one stores. */
export const writtenSettingsSchema = z.preprocess(withoutRetiredSettings, settingsSchema);
