import type { Preset } from '../contract/preset.ts';

type Particulars = Pick<Preset, 'id' | 'name' | 'baseUrl'> & Partial<Preset>;

/** Values that most presets share. */
export const common = { dialect: 'openai', models: 'discover', askUsage: true, serves: null, hint: null } as const;

export function service(preset: Particulars & Pick<Preset, 'environment' | 'keyPage'>): Preset {
  return { ...common, isLocal: false, needsCredential: true, ports: [], ...preset };
}

export function localServer(preset: Particulars & { ports: [number] }): Preset {
  return { ...common, isLocal: true, needsCredential: false, environment: [], keyPage: null, ...preset };
}
