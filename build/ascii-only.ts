/**
 * Escapes characters beyond Latin-1 in a bundle. V8 stores the source of a file with two bytes per character if it
 * contains a single character beyond Latin-1, which would cost the engine 2.5 MB for some quotation marks. The escaped
 * form means the same.
 */
import type { Plugin } from 'vite';

/** Applies to the bundle of one environment. */
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

/** Only for code without such characters in raw template text (`String.raw`). */
export function escapeBeyondAscii(code: string): string {
  return code.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
