/** claude-code-router's `config.json`: its README, example and documents of the configuration, November 2026. */

import { readServiceAddress } from '../../contract/address.ts';
import type { AdoptNote } from '../../contract/change-views.ts';
import type { DialectId } from '../../contract/config.ts';
import {
  addressAt,
  type Found,
  type FoundKey,
  type FoundService,
  listAt,
  objectAt,
  type Reading,
  secretAt,
  serviceOf,
  textAt,
  textIn,
} from './found.ts';

type Fields = Readonly<Record<string, unknown>>;

const readFields = new Set(['name', 'api_base_url', 'api_key', 'models']);
/** Transformers that say which API a service speaks; the others adapt requests, which Sluice does by itself. */
const dialectOfTransformer: Readonly<Record<string, DialectId>> = { gemini: 'gemini', Anthropic: 'anthropic' };
const clouds = new Set(['vertex-gemini', 'vertex-claude']);

export function isClaudeCodeRouter(settings: Fields): boolean {
  return Array.isArray(settings.Providers) || (Array.isArray(settings.providers) && 'Router' in settings);
}

export function readClaudeCodeRouter(settings: Fields, reading: Reading): Found[] {
  const { Providers, providers: small, Router: router = {}, ...others } = settings;
  const list = Providers === undefined ? 'providers' : 'Providers';
  const services = new Map<string, FoundService>();
  const providers = listAt(Providers ?? small, list).map((entry, index) => {
    const found = readProvider(entry, `${list}[${index}]`, reading);
    if (found.service) services.set(found.service.name, found.service);
    return found;
  });
  const routes = Object.entries(objectAt(router, 'Router')).map(([name, value]) => readRoute(name, value, services));
  const rest = Object.keys(others).map(
    (place): Found => ({ place, notes: [{ code: place === 'APIKEY' ? 'own-keys' : 'no-counterpart' }] }),
  );
  return [...providers, ...routes, ...rest];
}

function readProvider(entry: unknown, at: string, reading: Reading): Found {
  const fields = objectAt(entry, at);
  const name = textAt(fields.name, `${at}.name`);
  const place = `${at} (${name})`;
  const used = transformersIn(fields.transformer);
  const cloud = used.find((transformer) => clouds.has(transformer));
  if (cloud !== undefined) return { place, notes: [{ code: 'cloud-credentials', service: cloud }] };
  const baseUrl = addressAt(fields.api_base_url, `${at}.api_base_url`);
  const [dialect = readServiceAddress(String(fields.api_base_url)).dialect ?? 'openai'] = used.flatMap(
    (transformer) => dialectOfTransformer[transformer] ?? [],
  );
  const models = listAt(fields.models, `${at}.models`).map((model, index) => textAt(model, `${at}.models[${index}]`));
  const service = serviceOf(reading, {
    name,
    baseUrl: dialect === 'anthropic' ? baseUrl.replace(/\/v1$/, '') : baseUrl,
    dialect,
    models: models.length > 0 ? models : 'discover',
    key: keyOf(fields.api_key, `${at}.api_key`),
  });
  if (!service) return { place, notes: [{ code: 'address-missing' }] };
  const dropped = Object.keys(fields).filter((field) => !readFields.has(field));
  const notes: AdoptNote[] = dropped.length > 0 ? [{ code: 'fields-dropped', fields: dropped.join(', ') }] : [];
  return { place, service, notes };
}

function transformersIn(value: unknown): string[] {
  const { use = [] } = value ? objectAt(value, 'transformer') : {};
  return listAt(use, 'transformer.use').flatMap((each) => {
    const name: unknown = Array.isArray(each) ? each[0] : each;
    return typeof name === 'string' ? [name] : [];
  });
}

/** `$NAME` and `${NAME}` stand for a variable. */
function keyOf(value: unknown, place: string): FoundKey | null {
  const text = textIn(value, place);
  if (text === undefined) return null;
  const variable = /^\$(?:\{(\w+)\}|(\w+))$/.exec(text);
  const name = variable?.[1] ?? variable?.[2];
  return name === undefined ? secretAt(text, place) : { variable: name };
}

function readRoute(name: string, value: unknown, services: ReadonlyMap<string, FoundService>): Found {
  const place = `Router.${name}`;
  if (typeof value !== 'string' || !value.includes(',')) return { place, notes: [{ code: 'no-counterpart' }] };
  const comma = value.indexOf(',');
  const [provider, model] = [value.slice(0, comma).trim(), value.slice(comma + 1).trim()];
  const service = services.get(provider);
  if (!service || model === '') return { place, notes: [{ code: 'target-missing', target: value }] };
  return { place, alias: { name, targets: [{ service, model }] }, notes: [{ code: 'asked-by-name', alias: name }] };
}
