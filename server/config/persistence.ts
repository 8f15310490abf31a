/** Stores the configuration with `conf`, or with electron-store on the desktop, in the same file and format. */
export interface ConfigPersistence {
  /** The JSON file; backup and damaged versions are beside it. */
  readonly path: string;
  /**
   * The stored value; undefined if there is none. Throws a SyntaxError for invalid JSON, and a system error if the file
   * cannot be read.
   */
  read(): unknown;
  /** Replaces the value durably. */
  write(value: object): Promise<void>;
}
