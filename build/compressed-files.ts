/**
 * Compresses the window's files once, at build time, so that the engine sends a quarter of the bytes without
 * compressing anything itself.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

/** Types that `server/http/app.ts` knows. Compressing less than a kilobyte gains nothing. */
const isWorthIt = (file: string, content: Buffer) => /\.(html|js|css|svg)$/.test(file) && content.length > 1_000;

/** Writes a `.br` and a `.gz` beside each file. The environments share a folder. */
export function compressedFiles(...environments: string[]): Plugin {
  return {
    name: 'compressed-files',
    applyToEnvironment: ({ name }) => environments.includes(name),
    writeBundle({ dir = '' }) {
      for (const file of readdirSync(dir, { recursive: true, encoding: 'utf8', withFileTypes: true })) {
        const path = join(file.parentPath, file.name);
        if (!file.isFile() || existsSync(`${path}.br`)) continue;
        const content = readFileSync(path);
        if (!isWorthIt(path, content)) continue;
        writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
        writeFileSync(`${path}.br`, brotliCompressSync(content, { params: brotliParameters(content) }));
      }
    },
  };
}

function brotliParameters(content: Buffer) {
  return {
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_QUALITY]: 10,
    [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
  };
}
