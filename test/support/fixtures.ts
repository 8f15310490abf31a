import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../fixtures');

/** A body as an upstream sends it, such as `openai-chat/with-usage.sse`; `test/fixtures/README.md` tells where its shape is from. */
export function fixture(name: string): Buffer {
  return readFileSync(join(folder, name));
}

/** All of them, `<wire>/<file>`. */
export function fixtureNames(): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.parentPath !== folder)
    .map(({ parentPath, name }) => `${parentPath.slice(folder.length + 1)}/${name}`)
    .sort();
}
