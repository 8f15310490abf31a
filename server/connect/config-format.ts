/** How a client's configuration file is written. A format reads a file's settings and changes single ones in its text. */

export type Settings = Record<string, unknown>;

export interface ConfigFormat {
  /** Throws ConfigSyntaxError if the text cannot be read. An empty text holds no settings. */
  parse(text: string): Settings;
  /**
   * The text with the given settings. Comments, order and layout of what does not change stay as they are. `settings` must come
   * from `parse` of the same text, with some values replaced, added or removed.
   */
  rewrite(text: string, settings: Settings): string;
}

/** A configuration file that its own client could not read either. The message never quotes the file. */
export class ConfigSyntaxError extends Error {
  override readonly name = 'ConfigSyntaxError';
  /** Counted from 1. */
  readonly line: number;

  constructor(line: number) {
    super(`syntax error in line ${line}`);
    this.line = line;
  }
}

/** The line of an offset, counted from 1. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}
