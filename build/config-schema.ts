/**
 * Writes what is generated from the zod schemas: the JSON Schemas and the reference in docs, and the shapes of settings for
 * the window.
 * `node build/config-schema.ts [FOLDER]`; with a folder, everything is written there.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { cassetteSettingsSchema } from '../server/cassettes/cassette-settings.ts';
import { exchangeSchema } from '../server/cassettes/format.ts';
import { configSchema } from '../server/contract/config.ts';
import { teamPresetSchema } from '../server/contract/team-preset.ts';
import { configReference } from './config-reference.ts';
import { settingShapesFile } from './setting-shapes.ts';

const docs = process.argv[2] ?? join(import.meta.dirname, '../docs');
const contract = process.argv[2] ?? join(import.meta.dirname, '../server/contract');

write('config.schema.json', configSchema, 'Configuration of Sluice, and of `sluice serve --config FILE`');
write('team-preset.schema.json', teamPresetSchema, 'Team preset of Sluice: see docs/teams.md');
write('cassette.schema.json', exchangeSchema, 'A recorded exchange of Sluice: see docs/testing-with-sluice.md');
write(
  'cassette-settings.schema.json',
  cassetteSettingsSchema,
  'cassette.json of Sluice: see docs/testing-with-sluice.md',
);
writeFileSync(join(docs, 'configuration-reference.md'), configReference());
writeFileSync(join(contract, 'setting-shapes.ts'), settingShapesFile());

/** Describes the input: fields with a default are optional. */
function write(name: string, schema: z.ZodType, title: string): void {
  const titledSchema = { ...z.toJSONSchema(schema, { io: 'input' }), title };
  writeFileSync(join(docs, name), `${JSON.stringify(titledSchema, null, 2)}\n`);
}
