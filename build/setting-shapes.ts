/** `server/contract/setting-shapes.ts`: the shapes of all settings, from the schema, for the window, which has no zod. */
import { z } from 'zod';
import type { SettingShape } from '../server/contract/setting-shape.ts';
import { settingsSchema } from '../server/contract/settings.ts';
import { settingPaths } from '../server/contract/settings-table.ts';

export type JsonSchema = z.core.JSONSchema.JSONSchema;

const head = `/** Generated from the schema by \`node build/config-schema.ts\`. Do not edit. */
import type { SettingShape } from './setting-shape.ts';
import type { SettingPath } from './settings-table.ts';

export const settingShapes: Record<SettingPath, SettingShape> = {
`;

export function settingShapesFile(): string {
  const root = z.toJSONSchema(settingsSchema, { io: 'input' });
  const lines = settingPaths.map((path) => `  ${nameOf(path)}: ${literal(shapeOf(schemaAt(root, path)))},\n`);
  return `${head}${lines.join('')}};\n`;
}

/** The schema of a member, such as `ledger.retentionDays`. */
export function schemaAt(root: JsonSchema, path: string): JsonSchema {
  return path.split('.').reduce<JsonSchema>((schema, name) => {
    const inner = schema.properties?.[name];
    if (typeof inner !== 'object') throw new Error(`The schema has no "${path}".`);
    return inner;
  }, root);
}

/** The schema without `null`, and whether it had it. */
export function withoutNull(schema: JsonSchema): { schema: JsonSchema; isOptional: boolean } {
  // As zod writes a nullable value that has a check of its own.
  const types: unknown = schema.type;
  if (Array.isArray(types)) {
    const type = types.find((each) => each !== 'null');
    return { schema: { ...schema, type }, isOptional: types.includes('null') };
  }
  const choices = schema.anyOf?.filter((each): each is JsonSchema => typeof each === 'object') ?? [];
  const others = choices.filter(({ type }) => type !== 'null');
  const [only] = others;
  if (others.length !== 1 || only === undefined) return { schema, isOptional: others.length < choices.length };
  return { schema: { ...schema, anyOf: undefined, ...only } as JsonSchema, isOptional: true };
}

function shapeOf(written: JsonSchema): SettingShape {
  const { schema, isOptional } = withoutNull(written);
  if (schema.enum) return { kind: 'choice', values: schema.enum.map(String) };
  switch (schema.type) {
    case 'integer':
    case 'number':
      return { kind: 'number', isWhole: schema.type === 'integer', ...boundsOf(schema), isOptional };
    case 'boolean':
      return { kind: 'switch' };
    case 'string':
      return { kind: 'text', minLength: schema.minLength ?? 0, isOptional };
    case 'array':
      return {
        kind:
          typeof schema.items === 'object' && 'type' in schema.items && schema.items.type === 'string'
            ? 'texts'
            : 'structure',
      };
    default:
      return { kind: 'structure' };
  }
}

/** zod writes the largest safe integer for whole numbers without a maximum. */
export function boundsOf(schema: JsonSchema): { min: number | null; above: number | null; max: number | null } {
  const { minimum = null, exclusiveMinimum, maximum = null } = schema;
  const above = typeof exclusiveMinimum === 'number' ? exclusiveMinimum : null;
  const max = maximum === Number.MAX_SAFE_INTEGER ? null : maximum;
  if (schema.type === 'integer' && above !== null) return { min: above + 1, above: null, max };
  return { min: minimum === Number.MIN_SAFE_INTEGER ? null : minimum, above, max };
}

function nameOf(path: string): string {
  return path.includes('.') ? `'${path}'` : path;
}

/** As Biome writes it. */
function literal(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value === 'number') return value.toLocaleString('en', { maximumFractionDigits: 10 }).replaceAll(',', '_');
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  return `{ ${Object.entries(value)
    .map(([name, each]) => `${name}: ${literal(each)}`)
    .join(', ')} }`;
}
