/** Previews of configuration changes. They contain no secrets. */

import type { Coded, TextsOf } from './coded.ts';
import type { ControlProblem } from './control-problem.ts';
import { isObject } from './is-object.ts';
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

/** The programs whose configurations are read, in their own spelling. */
export const adoptedPrograms = {
  litellm: 'LiteLLM',
  'claude-code-router': 'claude-code-router',
  'cc-switch': 'CC Switch',
  environment: '.env',
} as const;

export type AdoptedProgram = keyof typeof adoptedPrograms;

/** What an entry loses or needs, or why it is left out. */
interface AdoptNotes {
  /** `fields`: names in the file, separated by commas. */
  'fields-dropped': { fields: string };
  'variable-missing': { variable: string };
  'key-missing': object;
  /** The provider is there already, and its key is not touched. */
  'provider-kept': { provider: string };
  /** What a program chose by the content of a request is asked for by name here. */
  'asked-by-name': { alias: string };
  'no-counterpart': object;
  'own-keys': object;
  'provider-there': { provider: string };
  'alias-there': { alias: string };
  'service-unknown': { service: string };
  'cloud-credentials': { service: string };
  'address-missing': object;
  'address-without-key': { variable: string };
  'model-missing': object;
  'target-missing': { target: string };
  'signed-in': object;
  'value-missing': object;
}

/**
 * What becomes of another program's configuration. It holds no secrets: keys are masked.
 *
 * Whether the contents of a JSON file are meant for Sluice itself: an exported configuration or a team preset.
 */
export function isOwnFormat(value: object): boolean {
  const isOfCcSwitch = Object.values(value).some((part) => isObject(part) && 'current' in part);
  return 'teamPreset' in value || ('version' in value && !isOfCcSwitch);
}

export type AdoptNote = Coded<AdoptNotes>;

/** An entry of the file. */
export interface AdoptedEntry {
  /** Where it stands: `model_list[0] (gpt-4o)`. */
  place: string;
  /** What it becomes, or a part of; absent if it is left out. */
  as?: { part: 'provider' | 'alias'; name: string; detail: string };
  /** A credential that it brings, masked (`…wxyz`), or the reference to it (`env:NAME`). */
  key?: string;
  /** Of an entry that is taken: what changes. Of one that is left out: why. */
  notes: AdoptNote[];
  /** Why Sluice refuses the provider, as it would by a command. The entry is left out. */
  refusal?: ControlProblem;
}

export type AdoptVerdict = 'taken' | 'changed' | 'left-out';

export function verdictOf({ as, notes }: AdoptedEntry): AdoptVerdict {
  if (!as) return 'left-out';
  return notes.length === 0 ? 'taken' : 'changed';
}

export interface AdoptPreview {
  /** The revision of the configuration that it was compared with. */
  revision: number;
  program: AdoptedProgram;
  entries: AdoptedEntry[];
}

export const adoptNoteTexts: TextsOf<AdoptNotes> = {
  'fields-dropped': ({ fields }) => `without ${fields}`,
  'variable-missing': ({ variable }) => `the variable ${variable} is not set where Sluice runs`,
  'key-missing': () => 'without a credential: enter it under Providers',
  'provider-kept': ({ provider }) => `calls the provider “${provider}” that is there already, with its own credential`,
  'asked-by-name': ({ alias }) =>
    `Sluice does not choose by what a request contains: clients ask for the model “${alias}”`,
  'no-counterpart': () => 'Sluice has nothing that corresponds',
  'own-keys': () => 'Sluice makes keys of its own for clients',
  'provider-there': ({ provider }) => `the provider “${provider}” is there already; add other credentials to it`,
  'alias-there': ({ alias }) => `the alias “${alias}” is there already`,
  'service-unknown': ({ service }) => `Sluice does not know how “${service}” is addressed`,
  'cloud-credentials': ({ service }) => `“${service}” needs credentials of its cloud: add it under Providers`,
  'address-missing': () => 'it names no address',
  'address-without-key': ({ variable }) => `it is an address, and ${variable} is missing`,
  'model-missing': () => 'it names no model',
  'target-missing': ({ target }) => `nothing that is taken serves “${target}”`,
  'signed-in': () => 'it signs in with an account and has no credential',
  'value-missing': () => 'it is empty',
};
