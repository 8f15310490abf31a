import type { SettingsChanges } from '../../contract/commands.ts';
import { GatewayError } from '../../contract/errors.ts';
import { type Settings, settingsSchema } from '../../contract/settings.ts';
import { unusableEntry } from '../../contract/settings-entries.ts';
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

function merge(settings: Settings, changes: SettingsChanges): object {
  return {
    ...settings,
    ...changes,
    limits: { ...settings.limits, ...changes.limits },
    admission: { ...settings.admission, ...changes.admission },
    ledger: { ...settings.ledger, ...changes.ledger },
    sessionBudget: { ...settings.sessionBudget, ...changes.sessionBudget },
    capture: { ...settings.capture, ...changes.capture },
    jobs: { ...settings.jobs, ...changes.jobs },
    keptResponses: { ...settings.keptResponses, ...changes.keptResponses },
    telemetry: { ...settings.telemetry, ...changes.telemetry },
  };
}
