/**
 * Writes the JSON Schemas in docs from the zod schemas: `node build/config-schema.ts [FOLDER]`.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { cassetteSettingsSchema } from '../server/cassettes/cassette-settings.ts';
import { exchangeSchema } from '../server/cassettes/format.ts';
import { configSchema } from '../server/contract/config.ts';
import { teamPresetSchema } from '../server/contract/team-preset.ts';

const folder = process.argv[2] ?? join(import.meta.dirname, '../docs');

write('config.schema.json', configSchema, 'Configuration of Sluice, and of `sluice serve --config FILE`');
write('team-preset.schema.json', teamPresetSchema, 'Team preset of Sluice: see docs/teams.md');
write('cassette.schema.json', exchangeSchema, 'A recorded exchange of Sluice: see docs/testing-with-sluice.md');
write(
  'cassette-settings.schema.json',
  cassetteSettingsSchema,
  'cassette.json of Sluice: see docs/testing-with-sluice.md',
);

/** Describes the input: fields with a default are optional. */
function write(name: string, schema: z.ZodType, title: string): void {
  const titledSchema = { ...z.toJSONSchema(schema, { io: 'input' }), title };
  writeFileSync(join(folder, name), `${JSON.stringify(titledSchema, null, 2)}\n`);
}
