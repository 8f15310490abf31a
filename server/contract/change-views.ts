/** What is shown of a change of the configuration before it is made. Never a secret. */
import type { ControlProblem } from './control-problem.ts';
import type { TeamPresetView } from './status-views.ts';

/** One thing that differs between two configurations, in the order of their parts. Holds no secrets. */
export interface ConfigChange {
  part: 'provider' | 'alias' | 'group' | 'key' | 'setting';
  /** Id of the provider, group or key, name of the alias or setting (`limits.jsonBodyBytes`). */
  name: string;
  kind: 'added' | 'removed' | 'changed';
  /** Of what was changed, as JSON; null where it is absent. */
  fields: { name: string; before: string | null; after: string | null }[];
}

/** Why a configuration would not be imported, for a person. */
export interface ImportRefusal {
  /** Its id. */
  provider: string;
  /** `message` as a value; null where nobody says it otherwise. */
  problem: ControlProblem | null;
  message: string;
}

/** All that importing a team preset would do. */
export interface TeamPresetPreview {
  /** Of the configuration that it was compared with. */
  revision: number;
  preset: TeamPresetView;
  /** Of what is added, with everything that the preset says of it. */
  changes: ConfigChange[];
  /** What could not be changed any more, as the preset says it. */
  locked: string[];
  /** Credentials, as `provider/credential`, that are deleted since their provider would lead elsewhere. */
  enteredAnew: string[];
}
