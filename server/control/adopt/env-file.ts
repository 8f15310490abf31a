/** A file of environment variables: keys and addresses by the names that services and their clients use for them. */

import { keyPrefix } from '../../routing/key-secret.ts';
import { addressAt, type Found, type FoundService, type Reading, secretAt, serviceOf, withPath } from './found.ts';

/** Further names of keys, besides those of the presets. */
const keyNames: Readonly<Record<string, string>> = { ANTHROPIC_AUTH_TOKEN: 'anthropic' };
/** Names of addresses, by preset. */
const addressNames: Readonly<Record<string, string>> = {
  OPENAI_BASE_URL: 'openai',
  OPENAI_API_BASE: 'openai',
  ANTHROPIC_BASE_URL: 'anthropic',
  GOOGLE_GEMINI_BASE_URL: 'gemini',
  GEMINI_BASE_URL: 'gemini',
  AZURE_OPENAI_ENDPOINT: 'azure',
  OPENROUTER_BASE_URL: 'openrouter',
  DEEPSEEK_BASE_URL: 'deepseek',
  DASHSCOPE_BASE_URL: 'dashscope',
  MOONSHOT_BASE_URL: 'moonshot',
};

/** What a client asks below an address that names no version. */
export const pathsByDialect: Readonly<Partial<Record<FoundService['dialect'], string>>> = {
  gemini: '/v1beta',
  azure: '/openai/v1',
};

export function readEnvFile(variables: Readonly<Record<string, unknown>>, reading: Reading): Found[] {
  const entries = Object.entries(variables).map(([name, value]) => ({ name, value: unquoted(String(value)) }));
  const isKeyOf = (preset: string) => (name: string) =>
    keyNames[name] === preset ||
    reading.presets.some(({ id, environment }) => id === preset && environment.includes(name));
  return entries.map(({ name, value }): Found => {
    const place = name;
    if (value.startsWith(keyPrefix)) return { place, notes: [{ code: 'own-keys' }] };
    const keyPreset = keyNames[name] ?? reading.presets.find(({ environment }) => environment.includes(name))?.id;
    const addressPreset = addressNames[name];
    const preset = keyPreset ?? addressPreset;
    if (preset === undefined) return { place, notes: [{ code: 'no-counterpart' }] };
    const key = keyPreset ? { name, value } : entries.find((each) => isKeyOf(preset)(each.name) && each.value !== '');
    if (!key) return { place, notes: [{ code: 'address-without-key', variable: keyNameOf(preset, reading) }] };
    if (key.value === '') return { place, notes: [{ code: 'value-missing' }] };
    const address = entries.find((each) => addressNames[each.name] === preset && each.value !== '');
    const service = envService(preset, { key, address }, reading);
    return service ? { place, service, notes: [] } : { place, notes: [{ code: 'address-missing' }] };
  });
}

interface Variable {
  name: string;
  value: string;
}

function envService(
  preset: string,
  { key, address }: { key: Variable; address: Variable | undefined },
  reading: Reading,
): FoundService | null {
  const dialect = reading.presets.find(({ id }) => id === preset)?.dialect ?? 'openai';
  const path = pathsByDialect[dialect];
  const base = address && addressAt(address.value, address.name);
  return serviceOf(reading, {
    name: preset,
    preset,
    dialect,
    ...(base !== undefined && { baseUrl: path === undefined ? base : withPath(base, path) }),
    key: secretAt(key.value, key.name),
  });
}

function keyNameOf(preset: string, { presets }: Reading): string {
  return presets.find(({ id }) => id === preset)?.environment[0] ?? preset;
}

function unquoted(value: string): string {
  return /^(["'`])(.*)\1$/s.exec(value)?.[2] ?? value;
}
