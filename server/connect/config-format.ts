/**
 * The syntax of a client's configuration file. A format parses a file's settings and changes individual settings in its
 * text.
 */

export type ClientSettings = Record<string, unknown>;

export interface ConfigFormat {
  /** Throws ConfigSyntaxError for invalid syntax. An empty text contains no settings. */
  parse(text: string): ClientSettings;
  /**
   * The text with the given settings. Comments, order and layout of unchanged parts are preserved. `settings` must come
   * from `parse` of the same text, with some values replaced, added or removed.
   */
  rewrite(text: string, settings: ClientSettings): string;
}

/** A configuration file that its own client could not read either. The message never quotes the file. */
export class ConfigSyntaxError extends Error {
  override readonly name = 'ConfigSyntaxError';
  /** Starts at 1. */
  readonly line: number;

  constructor(line: number) {
    super(`syntax error in line ${line}`);
    this.line = line;
  }
}

/** The line number at an offset, starting at 1. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}
