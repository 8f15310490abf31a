import type { SettingsChanges } from '../../contract/commands.ts';
import { GatewayError } from '../../contract/errors.ts';
import { isObject } from '../../contract/is-object.ts';
import { type Settings, settingsSchema } from '../../contract/settings.ts';
import { settingSections, unusableEntry } from '../../contract/settings-table.ts';
import type { Changer } from './change.ts';

export const updateSettings: Changer<'settings.update'> = (config, { changes }) => {
  const parsed = settingsSchema.safeParse(merge(config.settings, changes));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new GatewayError('invalid_command', `${issue?.path.join('.') || 'settings'}: ${issue?.message}.`);
  }
  const unusable = unusableEntry(changes);
  if (unusable !== null) throw new GatewayError('invalid_command', `${unusable}.`);
  return { config: { ...config, settings: parsed.data }, result: ({ revision }) => ({ revision }) };
};

/** Sections are merged; a value that is no object is left for the schema to refuse. */
function merge(settings: Settings, changes: SettingsChanges): object {
  const changed = Object.entries(changes).map(([name, change]: [string, unknown]) => {
    const present: unknown = Reflect.get(settings, name);
    return [
      name,
      settingSections.has(name) && isObject(change) && isObject(present) ? { ...present, ...change } : change,
    ];
  });
  return { ...settings, ...Object.fromEntries(changed) };
}
