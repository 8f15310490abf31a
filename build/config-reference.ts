/** docs/configuration-reference.md: every setting and field, from the schema, its descriptions and the table of settings. */
import { z } from 'zod';
import { currentConfigSchema } from '../server/contract/config.ts';
import { type SettingEntry, type SettingPath, settingEntry, settingPaths } from '../server/contract/settings-table.ts';
import { boundsOf, type JsonSchema, schemaAt, withoutNull } from './setting-shapes.ts';

const head = `# Configuration reference

Every field of \`config.json\` and of the file for \`serve --config\`, generated from the schema by \`node build/config-schema.ts\`. For editors
there is [config.schema.json](config.schema.json).
`;

const settingsHead = `## Settings

Under \`settings\`, here with the path that \`sluice settings get\` and \`set\` take. **Window**: the section of its settings. **Preset**: who may hand the
setting out ([teams.md](teams.md)): *importable*, anyone; *managed*, only a policy or an installer; *own machine*, the same, but it describes one machine.
Advanced settings are marked °, and those that take effect at the next start ↻; all others do at once.
`;

const windowSections: Record<Extract<SettingEntry['window'], string>, string> = {
  address: 'Address',
  network: 'Proxies and certificates',
  access: 'Network access',
  serving: 'Serving',
  records: 'Records',
  observability: 'Observability',
  prices: 'Prices',
};

const lists = ['providers', 'aliases', 'groups', 'keys'] as const;

export function configReference(): string {
  const root: JsonSchema = z.toJSONSchema(currentConfigSchema, { io: 'input' });
  const settings = schemaAt(root, 'settings');
  const parts = lists.map((name) => listSection(name, schemaAt(root, name)));
  return [head, ...parts, settingsHead, settingsTable(settings), ...innerTables(settings)].join('\n');
}

function listSection(name: string, list: JsonSchema): string {
  const entry = itemsOf(list);
  const title = `## ${name.charAt(0).toUpperCase()}${name.slice(1)}\n`;
  return [title, fieldsTable(entry, `${name}[].`)].join('\n');
}

function settingsTable(settings: JsonSchema): string {
  const rows = settingPaths.map((path) => {
    const schema = schemaAt(settings, path);
    return [
      `\`${path}\`${marks(path)}`,
      describeValue(schema),
      defaultOf(schema),
      windowOf(path),
      presetOf(path),
      textOf(schema),
    ];
  });
  return table(['setting', 'value', 'default', 'window', 'preset', 'meaning'], rows);
}

/** Settings with values of their own, which are written as a whole. */
function innerTables(settings: JsonSchema): string[] {
  return settingPaths.flatMap((path) => {
    const { schema } = withoutNull(schemaAt(settings, path));
    const object = schema.type === 'array' ? itemsOf(schema) : schema;
    return object.properties ? [`### \`${path}\`\n\n${fieldsTable(object, '')}`] : [];
  });
}

function fieldsTable(entry: JsonSchema, prefix: string): string {
  const rows = fieldsOf(entry).map(({ path, schema, isRequired }) => [
    `\`${path}\``,
    describeValue(schema),
    isRequired ? 'required' : schema.default === undefined ? 'optional' : defaultOf(schema),
    textOf(schema),
  ]);
  return table([prefix === '' ? 'field' : `\`${prefix}\``, 'value', 'default', 'meaning'], rows);
}

interface Field {
  path: string;
  schema: JsonSchema;
  isRequired: boolean;
}

/** Fields of objects and of the entries of lists, after the field that holds them. */
export function fieldsOf(entry: JsonSchema, prefix = ''): Field[] {
  return Object.entries(entry.properties ?? {}).flatMap(([name, schema]) => {
    if (typeof schema !== 'object') return [];
    const path = `${prefix}${name}`;
    const field = { path, schema, isRequired: entry.required?.includes(name) ?? false };
    return [field, ...alternativesOf(schema).flatMap((each) => innerFields(each, path))];
  });
}

function alternativesOf(schema: JsonSchema): JsonSchema[] {
  return schema.anyOf ? schema.anyOf.filter((each): each is JsonSchema => typeof each === 'object') : [schema];
}

function innerFields(schema: JsonSchema, path: string): Field[] {
  return schema.type === 'array' ? fieldsOf(itemsOf(schema), `${path}[].`) : fieldsOf(schema, `${path}.`);
}

function itemsOf({ items }: JsonSchema): JsonSchema {
  return typeof items === 'object' && !Array.isArray(items) ? (items as JsonSchema) : {};
}

function marks(path: SettingPath): string {
  const { level, needsRestart } = settingEntry(path);
  return `${level === 'advanced' ? ' °' : ''}${needsRestart ? ' ↻' : ''}`;
}

function windowOf(path: SettingPath): string {
  const { window } = settingEntry(path);
  return typeof window === 'string' ? windowSections[window] : `no: ${window.notBecause}`;
}

function presetOf(path: SettingPath): string {
  return settingEntry(path).preset.replace('-', ' ');
}

/** What can stand there, with unit and bounds. */
function describeValue(written: JsonSchema): string {
  const { schema, isOptional } = withoutNull(written);
  const kinds = alternativesOf(schema).map(kindOf);
  return [...new Set([...kinds, ...(isOptional ? ['`null`'] : [])])].join(' or ');
}

function kindOf(schema: JsonSchema): string {
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum) return schema.enum.map(literal).join(', ');
  switch (schema.type) {
    case 'integer':
      return `whole number${boundsText(schema)}`;
    case 'number':
      return `number${boundsText(schema)}`;
    case 'boolean':
      return '`true`, `false`';
    case 'array':
      return `list of ${plural(kindOf(itemsOf(schema)))}`;
    case 'string':
      return 'text';
    case 'null':
      return '`null`';
    default:
      return 'object';
  }
}

function plural(kind: string): string {
  return kind === 'text' || kind === 'object' ? `${kind}s` : kind;
}

function boundsText(schema: JsonSchema): string {
  const { min, above, max } = boundsOf(schema);
  const from = min !== null ? ` from ${min}` : above !== null ? ` above ${above}` : '';
  return `${from}${max === null ? '' : `${from === '' ? ' up' : ''} to ${max}`}`;
}

function defaultOf({ default: value }: JsonSchema): string {
  return value === undefined ? '' : literal(value);
}

function literal(value: unknown): string {
  return `\`${JSON.stringify(value)}\``;
}

function textOf({ description = '' }: JsonSchema): string {
  return description;
}

function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
  return [line(columns), `|${columns.map(() => '---|').join('')}\n`, ...rows.map(line)].join('');
}
