/** Views of changes to clients' configuration files, for the window and the command line. */

/** A client whose configuration file Sluice can change. */
export interface ConnectClientView {
  /** The id of its guide. */
  client: string;
  name: string;
  /** Its files, in the form `~/.codex/config.toml`. */
  files: string[];
  /** The change that Sluice has written and not reverted; null if there is none. */
  applied: AppliedConnection | null;
}

export interface AppliedConnection {
  /** Unix milliseconds. */
  appliedAt: number;
  keyId: string;
  model: string;
  /** Its file holds a secret that the key no longer has, because it was rotated or revoked since. */
  hasOldKey: boolean;
  /** While there are any, the client does not use what Sluice has written. */
  stronger: StrongerSetting[];
}

/** A setting that a client prefers to those that Sluice writes for it, and that leads elsewhere. */
export interface StrongerSetting {
  /** The file, in the form `~/.codex/config.toml`; null for a variable of the environment. */
  place: string | null;
  /** In the form `env.CLAUDE_CODE_USE_BEDROCK`. */
  setting: string;
}

/** A change that the person has to confirm. */
export interface ConnectPreview {
  client: string;
  files: ConnectFileChange[];
  /** Settings of these files that would come before Sluice's, and are taken out by the change. */
  overruled: StrongerSetting[];
  /** Those of other places, which the change leaves: before they are gone, the client does not use Sluice. */
  stronger: StrongerSetting[];
  /** Stands for the home folder and the machine of these files: those of the Sluice that is running. */
  place: string;
  /** The variable that must hold the key when the client starts; null if a file holds the key. */
  keyVariable: string | null;
  /** Sluice's own private file, which holds the key for the client and goes with the undo; null if there is none. */
  keyFile: string | null;
  /** Identifies exactly this change, which is refused if a file has changed since. */
  fingerprint: string;
}

export interface ConnectFileChange {
  /** In the form `~/.codex/config.toml`. */
  path: string;
  action: 'create' | 'change' | 'remove' | 'none';
  /** A unified diff. Secrets in it are hidden. */
  diff: string;
}
