/** Previews of configuration changes. They contain no secrets. */
import type { ControlProblem } from './control-problem.ts';
import type { TeamPresetView } from './status-views.ts';

/** A difference between two configurations. */
export interface ConfigChange {
  part: 'provider' | 'alias' | 'group' | 'key' | 'setting';
  /** Id of the provider, group or key, or name of the alias or setting (`limits.jsonBodyBytes`). */
  name: string;
  kind: 'added' | 'removed' | 'changed';
  /** The changed fields as JSON; null if a field is absent. */
  fields: { name: string; before: string | null; after: string | null }[];
}

/** Why a configuration cannot be imported. */
export interface ImportRefusal {
  /** The provider's id. */
  provider: string;
  /** `message` in a form that the window can translate; null if only the English text exists. */
  problem: ControlProblem | null;
  message: string;
}

/** The effects of importing a team preset. */
export interface TeamPresetPreview {
  /** The revision of the configuration it was compared with. */
  revision: number;
  preset: TeamPresetView;
  /** Additions list every field that the preset sets. */
  changes: ConfigChange[];
  /** The preset's `locked` entries. */
  locked: string[];
  /**
   * Credentials, as `provider/credential`, that are deleted because their provider's base URL changes, and must be
   * entered again.
   */
  enteredAnew: string[];
}
