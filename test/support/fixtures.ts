import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../fixtures');

/** An upstream's body, such as `openai-chat/with-usage.sse`. Its origin is described in `test/fixtures/README.md`. */
export function fixture(name: string): Buffer {
  return readFileSync(join(folder, name));
}

/** All names, as `<wire>/<file>`. */
export function fixtureNames(): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.parentPath !== folder)
    .map(({ parentPath, name }) => `${parentPath.slice(folder.length + 1)}/${name}`)
    .sort();
}
