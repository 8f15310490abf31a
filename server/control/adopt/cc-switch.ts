/**
 * CC Switch's `config.json`, the SQL file that it exports, and its links, which a person pastes: its sources
 * (`deeplink/`, `database/backup.rs`) of November 2026.
 */

import { jsonFormat } from '../../connect/json-format.ts';
import { ConfigSyntaxError } from '../../connect/merge-settings.ts';
import { tomlFormat } from '../../connect/toml-format.ts';
import type { ConversationApi, DialectId } from '../../contract/config.ts';
import { isObject } from '../../contract/is-object.ts';
import { pathsByDialect } from './env-file.ts';
import {
  addressAt,
  brokenAt,
  type Found,
  type FoundKey,
  objectAt,
  type Reading,
  secretAt,
  serviceOf,
  textAt,
  textIn,
  withPath,
} from './found.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What a client's part of the configuration says of a service. */
interface Said {
  dialect: DialectId;
  baseUrl?: unknown;
  key?: unknown;
  /** The variable that holds the key. */
  variable?: unknown;
  models: readonly unknown[];
  serves?: ConversationApi[];
}

const claudeModels = ['', '_DEFAULT_HAIKU', '_DEFAULT_SONNET', '_DEFAULT_OPUS'].map((part) =>
  part === '' ? 'ANTHROPIC_MODEL' : `ANTHROPIC${part}_MODEL`,
);
const linkPrefix = /^ccswitch:\/\//i;
export const sqlHead = /^\s*-- CC Switch SQLite/;

/** Earlier versions kept the providers of Claude Code alone. */
export function isCcSwitch(settings: Fields): boolean {
  return isObject(settings.providers)
    ? 'current' in settings
    : Object.values(settings).some((part) => isObject(part) && isObject(part.providers) && 'current' in part);
}

export function readCcSwitch(settings: Fields, reading: Reading): Found[] {
  if (isObject(settings.providers)) return readApp('claude', settings, reading);
  return Object.entries(settings).flatMap(([app, part]): Found[] => {
    if (isObject(part) && isObject(part.providers)) return readApp(app, part, reading);
    return app === 'version' ? [] : [{ place: app, notes: [{ code: 'no-counterpart' }] }];
  });
}

function readApp(app: string, { providers }: Fields, reading: Reading): Found[] {
  return Object.entries(objectAt(providers, `${app}.providers`)).map(([id, entry]) =>
    readProvider(app, { ...objectAt(entry, `${app}.providers.${id}`), at: `${app}.providers.${id}` }, reading),
  );
}

function readProvider(app: string, entry: Fields & { at: string }, reading: Reading): Found {
  const { at } = entry;
  const name = textIn(entry.name, `${at}.name`) ?? app;
  const place = `${app} (${name})`;
  const said = saidIn(app, objectAt(entry.settingsConfig, `${at}.settingsConfig`), entry);
  if (!said) return { place, notes: [{ code: 'service-unknown', service: app }] };
  return foundIn(said, { place, at, name }, reading);
}

function foundIn(
  said: Said,
  { place, at, name }: { place: string; at: string; name: string },
  reading: Reading,
): Found {
  const key = keyOf(said, at);
  const written = textIn(said.baseUrl, at);
  if (written === undefined && key === null) return { place, notes: [{ code: 'signed-in' }] };
  const path = pathsByDialect[said.dialect];
  const base = written === undefined ? undefined : addressAt(written, at);
  const models = said.models.flatMap((model) => textIn(model, at) ?? []);
  const service = serviceOf(reading, {
    name,
    dialect: said.dialect,
    ...(base === undefined ? { preset: said.dialect } : { baseUrl: path === undefined ? base : withPath(base, path) }),
    ...(base !== undefined && said.serves && { serves: said.serves }),
    models: models.length > 0 && base !== undefined ? [...new Set(models)] : 'discover',
    key,
  });
  return service ? { place, service, notes: [] } : { place, notes: [{ code: 'address-missing' }] };
}

function keyOf({ key, variable }: Said, at: string): FoundKey | null {
  const text = textIn(key, at);
  if (text !== undefined) return secretAt(text, at);
  const name = textIn(variable, at);
  return name === undefined ? null : { variable: name };
}

/** Null for clients whose configuration is not known. */
function saidIn(app: string, settings: Fields, entry: Fields & { at: string }): Said | null {
  const env = isObject(settings.env) ? settings.env : {};
  switch (app) {
    case 'claude':
    case 'claude-desktop': {
      const { apiFormat } = isObject(entry.meta) ? entry.meta : {};
      const models = claudeModels.map((name) => env[name]);
      const said = { baseUrl: env.ANTHROPIC_BASE_URL, key: env.ANTHROPIC_AUTH_TOKEN ?? env.ANTHROPIC_API_KEY, models };
      if (apiFormat === 'openai_chat') return { ...said, dialect: 'openai', serves: ['chat'] };
      if (apiFormat === 'openai_responses') return { ...said, dialect: 'openai', serves: ['responses'] };
      return { ...said, dialect: 'anthropic' };
    }
    case 'codex':
      return saidToCodex(settings, `${entry.at}.settingsConfig.config`);
    case 'gemini':
      return {
        dialect: 'gemini',
        baseUrl: env.GOOGLE_GEMINI_BASE_URL,
        key: env.GEMINI_API_KEY,
        models: [env.GEMINI_MODEL],
      };
    case 'opencode':
      return saidToOpencode(settings);
    case 'openclaw':
    case 'hermes':
      return {
        dialect: 'openai',
        baseUrl: settings.baseUrl ?? settings.base_url,
        key: settings.apiKey ?? settings.api_key,
        models: Array.isArray(settings.models)
          ? settings.models.map((model) => (isObject(model) ? model.id : model))
          : [],
        serves: ['chat'],
      };
    default:
      return null;
  }
}

function saidToCodex({ auth, config }: Fields, at: string): Said {
  const toml = parsedPart(tomlFormat, textIn(config, at) ?? '', at);
  const all = isObject(toml.model_providers) ? toml.model_providers : {};
  const chosen = all[String(toml.model_provider)];
  const provider = isObject(chosen) ? chosen : {};
  return {
    dialect: 'openai',
    baseUrl: provider.base_url ?? toml.openai_base_url,
    key: (isObject(auth) ? auth.OPENAI_API_KEY : undefined) ?? provider.experimental_bearer_token,
    variable: provider.env_key,
    models: [toml.model],
    serves: [provider.wire_api === 'responses' ? 'responses' : 'chat'],
  };
}

function saidToOpencode({ npm, options, models }: Fields): Said {
  const { baseURL, apiKey } = isObject(options) ? options : {};
  const names = isObject(models) ? Object.keys(models) : [];
  const variable = typeof apiKey === 'string' ? /^\{env:(.+)\}$/.exec(apiKey)?.[1] : undefined;
  const said = { baseUrl: baseURL, ...(variable === undefined ? { key: apiKey } : { variable }), models: names };
  if (npm === '@ai-sdk/anthropic') {
    return {
      ...said,
      baseUrl: typeof baseURL === 'string' ? baseURL.replace(/\/v1\/?$/, '') : baseURL,
      dialect: 'anthropic',
    };
  }
  if (npm === '@ai-sdk/google') return { ...said, dialect: 'gemini' };
  return { ...said, dialect: 'openai', ...(npm === '@ai-sdk/openai-compatible' && { serves: ['chat'] }) };
}

/** A configuration that stands within another one. */
function parsedPart(format: typeof jsonFormat, text: string, place: string): Fields {
  try {
    return format.parse(text);
  } catch (error) {
    if (error instanceof ConfigSyntaxError) throw brokenAt(`${place}, line ${error.line}`, 'another syntax');
    throw error;
  }
}

export function readCcSwitchSql(sql: string, reading: Reading): Found[] {
  return rowsOf(sql, 'providers').map((row, index) => {
    const app = textAt(row.app_type, `providers[${index}].app_type`);
    const at = `providers[${index}] (${row.name ?? app})`;
    const settingsConfig = parsedPart(jsonFormat, textAt(row.settings_config, `${at}.settings_config`), at);
    const meta = parsedPart(jsonFormat, row.meta ?? '', at);
    return readProvider(app, { at, name: row.name, settingsConfig, meta }, reading);
  });
}

/** Whether each line is such a link. */
export function areCcSwitchLinks(text: string): boolean {
  const lines = linesOf(text);
  return lines.length > 0 && lines.every((line) => linkPrefix.test(line));
}

export function readCcSwitchLinks(text: string, reading: Reading): Found[] {
  return linesOf(text).map((line, index) => readLink(line, `link ${index + 1}`, reading));
}

function linesOf(text: string): string[] {
  return text.split(/\s+/).filter((line) => line !== '');
}

function readLink(link: string, at: string, reading: Reading): Found {
  const url = URL.parse(link);
  if (!url || !/^\/\/v1\/import$/i.test(link.replace(/^ccswitch:/i, '').replace(/\?.*$/s, ''))) {
    throw brokenAt(at, 'ccswitch://v1/import?…');
  }
  const given = Object.fromEntries(url.searchParams);
  if (given.resource !== 'provider') return { place: at, notes: [{ code: 'no-counterpart' }] };
  const app = textAt(given.app, `${at}: app`);
  const name = textAt(given.name, `${at}: name`);
  const place = `${app} (${name})`;
  const config = textIn(given.config, at);
  const format = given.configFormat === 'toml' ? tomlFormat : jsonFormat;
  const within = config === undefined ? {} : parsedPart(format, fromBase64(config), `${at}: config`);
  const said = saidIn(app, within, { at, meta: { apiFormat: given.apiFormat } });
  if (!said) return { place, notes: [{ code: 'service-unknown', service: app }] };
  const [endpoint, ...others] = (given.endpoint ?? '').split(',').map((each) => each.trim());
  const models = [given.model, given.haikuModel, given.sonnetModel, given.opusModel].filter((model) => model);
  const found = foundIn(
    {
      ...said,
      baseUrl: endpoint || said.baseUrl,
      key: given.apiKey || said.key,
      models: models.length > 0 ? models : said.models,
      // A link for Codex is written without its configuration, and means its present API.
      ...(app === 'codex' && config === undefined && { serves: ['responses'] }),
    },
    { place, at, name },
    reading,
  );
  const dropped = [
    ...(others.length > 0 ? ['endpoint'] : []),
    ...Object.keys(given).filter((field) => /^usage/.test(field)),
  ];
  if (!found.service || dropped.length === 0) return found;
  return { ...found, notes: [{ code: 'fields-dropped', fields: dropped.join(', ') }] };
}

function fromBase64(text: string): string {
  return Buffer.from(text.replace(/ /g, '+'), 'base64').toString('utf8');
}

type SqlRow = Readonly<Record<string, string | null>>;

interface Cursor {
  sql: string;
  at: number;
}

/** After white space and comments. */
const insert = /(?:\s|--[^\n]*\n)*INSERT INTO "(?<table>[^"]+)" \((?<columns>[^)]*)\) VALUES\s*/y;

/** The rows that a dump of SQLite inserts into a table. The dump is read, never run. */
function rowsOf(sql: string, table: string): SqlRow[] {
  const cursor = { sql, at: 0 };
  const rows: SqlRow[] = [];
  while (cursor.at < sql.length) {
    insert.lastIndex = cursor.at;
    const groups = insert.exec(sql)?.groups;
    if (!groups) {
      passStatement(cursor);
      continue;
    }
    cursor.at = insert.lastIndex;
    const columns = [...(groups.columns ?? '').matchAll(/"((?:[^"]|"")*)"/g)].map(([, name = '']) => name);
    const values = readRows(cursor);
    if (groups.table !== table) continue;
    for (const row of values) rows.push(Object.fromEntries(columns.map((name, index) => [name, row[index] ?? null])));
  }
  return rows;
}

/** Passes what ends at a semicolon outside of quotes and comments, and the white space after it. */
function passStatement(cursor: Cursor): void {
  const part = /--[^\n]*|'[^']*'|"[^"]*"|[^;'"-]+|-/y;
  for (;;) {
    part.lastIndex = cursor.at;
    if (!part.test(cursor.sql)) break;
    cursor.at = part.lastIndex;
  }
  passSpace(cursor, 1);
}

function passSpace(cursor: Cursor, after: number): void {
  cursor.at += after;
  while (/\s/.test(cursor.sql[cursor.at] ?? '')) cursor.at++;
}

function readRows(cursor: Cursor): (string | null)[][] {
  const rows: (string | null)[][] = [];
  for (;;) {
    if (cursor.sql[cursor.at] !== '(') throw brokenAt(lineOf(cursor), 'a row in parentheses');
    rows.push(readRow(cursor));
    const next = cursor.sql[cursor.at];
    if (next !== ',' && next !== ';') throw brokenAt(lineOf(cursor), '"," or ";" after a row');
    passSpace(cursor, 1);
    if (next === ';') return rows;
  }
}

function readRow(cursor: Cursor): (string | null)[] {
  const value = /\s*(?:'([^']*(?:''[^']*)*)'|NULL|X'[0-9A-Fa-f]*'|[-+.\deE]+)\s*([,)])/y;
  const row: (string | null)[] = [];
  cursor.at++;
  for (;;) {
    value.lastIndex = cursor.at;
    const found = value.exec(cursor.sql);
    if (!found) throw brokenAt(lineOf(cursor), 'a value');
    cursor.at = value.lastIndex;
    row.push(found[1]?.replaceAll("''", "'") ?? null);
    if (found[2] === ')') return row;
  }
}

function lineOf({ sql, at }: Cursor): string {
  return `line ${sql.slice(0, at).split('\n').length}`;
}
