/** Writes docs/config.schema.json (or the file named) from the configuration's zod schema: `node build/config-schema.ts [FILE]`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { configSchema } from '../server/contract/config.ts';

const path = process.argv[2] ?? join(import.meta.dirname, '../docs/config.schema.json');

// `input`: what may be written in a file, so fields with a default are optional.
const schema = z.toJSONSchema(configSchema, { io: 'input' });
const described = { ...schema, title: 'Configuration of Sluice, and of `sluice serve --config FILE`' };
writeFileSync(path, `${JSON.stringify(described, null, 2)}\n`);
