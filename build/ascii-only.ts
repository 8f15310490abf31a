/**
 * V8 keeps the source of the code it runs: in two bytes a character if a single one in the file is beyond Latin-1,
 * which would cost the engine 2.5 MB for some quotation marks. An escaped character is the same one to whoever reads
 * the program.
 */
import type { Plugin } from 'vite';

/** Of an environment's bundle. */
export function asciiOnly(environment: string): Plugin {
  return {
    name: 'ascii-only',
    applyToEnvironment: ({ name }) => name === environment,
    generateBundle(_options, bundle) {
      for (const output of Object.values(bundle))
        if (output.type === 'chunk') output.code = escapeBeyondAscii(output.code);
    },
  };
}

/** For code that reads no raw text of a template (`String.raw`) with such characters in it. */
export function escapeBeyondAscii(code: string): string {
  return code.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
