/** Writes the checksums against which a download is verified: `sha256sum --check SHA256SUMS`. */
import { createHash } from 'node:crypto';
import { createReadStream, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

const fileName = 'SHA256SUMS';
/** electron-builder's files for debugging a build. */
const notReleased = /^builder-(debug\.yml|effective-config\.yaml)$/;

/** Covers every file directly in the folder, but no subfolders, such as the unpacked program. */
export async function writeChecksums(folder: string): Promise<void> {
  const names = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== fileName && !notReleased.test(entry.name))
    .map(({ name }) => name)
    .sort();
  const lines: string[] = [];
  for (const name of names) lines.push(`${await sha256(join(folder, name))}  ${name}\n`);
  writeFileSync(join(folder, fileName), lines.join(''));
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
