/** Views of changes of clients' configuration files, for window and command line. */

/** A client whose configuration file Sluice can change. */
export interface ConnectClientView {
  /** The id of its guide. */
  client: string;
  name: string;
  /** Its files, as in `~/.codex/config.toml`. */
  files: string[];
  /** Changes by Sluice that are not undone; null: none. */
  applied: AppliedConnection | null;
}

export interface AppliedConnection {
  /** Unix milliseconds. */
  appliedAt: number;
  keyId: string;
  model: string;
}

/** A change to be agreed to. */
export interface ConnectPreview {
  client: string;
  files: ConnectFileChange[];
  /** The variable that must hold the key when the client starts; null: the file holds the key. */
  keyVariable: string | null;
  /** Identifies this very change: it is refused if a file has changed since. */
  fingerprint: string;
}

export interface ConnectFileChange {
  /** As in `~/.codex/config.toml`. */
  path: string;
  action: 'create' | 'change' | 'remove' | 'none';
  /** A unified diff. Secrets in it are hidden. */
  diff: string;
}
