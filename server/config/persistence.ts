/** Where a configuration is stored: the `conf` package headless, electron-store on the desktop; the same file either way. */
export interface ConfigPersistence {
  /** The JSON file; its backup and its broken versions are put beside it. */
  readonly path: string;
  /** The stored value; undefined if there is none. Throws a SyntaxError if it is not JSON, a system error if it cannot be read. */
  read(): unknown;
  /** Replaces the whole, durably: when it resolves, a power cut no longer loses it. */
  write(value: object): Promise<void>;
}
