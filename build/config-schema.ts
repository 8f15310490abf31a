/** Writes docs/config.schema.json from the configuration's zod schema: `node build/config-schema.ts`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { configSchema } from '../server/contract/config.ts';

export const configSchemaPath = join(import.meta.dirname, '../docs/config.schema.json');

/** The JSON Schema as text: what may be written in a configuration file, so fields with a default are optional. */
export function renderConfigSchema(): string {
  const schema = z.toJSONSchema(configSchema, { io: 'input' });
  const described = { ...schema, title: 'Configuration of Sluice, and of `sluice serve --config FILE`' };
  return `${JSON.stringify(described, null, 2)}\n`;
}

if (import.meta.main) {
  writeFileSync(configSchemaPath, renderConfigSchema());
}
