/**
 * Shows control characters instead of sending them to a terminal. Names of models, user agents, errors and much else are
 * chosen by clients and providers, and a terminal would take escape sequences in them as commands: to write to the
 * clipboard (OSC 52), to erase lines, to answer as if somebody had typed. All output of the command line passes here, so
 * that no command can forget it.
 */

import type { Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/**
 * Control characters except tab and line feed, marks that change the direction of text, and separators of lines. A
 * carriage return is shown unless it ends a line, as in CSV.
 */
const unshown = /\r(?!\n)|(?![\t\n\r])[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Each as `\u001b`, which in the strings of JSON is the same character. */
export function visible(text: string): string {
  return text.replace(unshown, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const unfiltered = new WeakMap<Writable, Writable>();

/** Writes text whose parts from elsewhere were made visible before they were coloured. */
export function writeStyled(stream: Writable, text: string): void {
  (unfiltered.get(stream) ?? stream).write(text);
}

/** The stream, with all that is written to it made visible. */
export function visibleOutput<Stream extends Writable>(stream: Stream): Stream {
  const decoder = new StringDecoder('utf8');
  let heldBack = '';
  const shown = (chunk: string | Uint8Array): string => {
    const text = heldBack + (typeof chunk === 'string' ? chunk : decoder.write(Buffer.from(chunk)));
    // What follows decides whether it ends a line.
    heldBack = text.endsWith('\r') ? '\r' : '';
    return visible(heldBack === '' ? text : text.slice(0, -1));
  };
  const filtered = new Proxy(stream, {
    get(target, name) {
      if (name === 'write') return (chunk: string | Uint8Array, ...rest: []) => target.write(shown(chunk), ...rest);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  unfiltered.set(filtered, stream);
  return filtered;
}
