import type { Preset } from '../contract/preset.ts';
import { refusesStreamOptions } from './chat-flavours.ts';

type Particulars = Pick<Preset, 'id' | 'name' | 'baseUrl'> & Partial<Preset>;

/** Values that most presets share. */
export const presetDefaults = {
  dialect: 'openai',
  models: 'discover',
  askUsage: true,
  serves: null,
  hint: null,
} as const;

export function service(preset: Particulars & Pick<Preset, 'environment' | 'keyPage'>): Preset {
  const askUsage = !refusesStreamOptions(preset.id);
  return { ...presetDefaults, askUsage, isLocal: false, needsCredential: true, ports: [], ...preset };
}

export function localServer(preset: Particulars & { ports: [number] }): Preset {
  return { ...presetDefaults, isLocal: true, needsCredential: false, environment: [], keyPage: null, ...preset };
}
