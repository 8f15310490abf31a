/** The translatable errors of the control plane. The English texts are in `control-problem-texts.ts`. */
import type { Coded } from './coded.ts';

/** Kinds of things with an id in the configuration or the ledger. */
export type Named = 'provider' | 'key' | 'group' | 'alias' | 'preset' | 'credential' | 'request' | 'session';

export interface ControlProblems extends Record<`no-${Named}`, { id: string }> {
  'changed-meanwhile': object;
  /** Another program changed the file. */
  'file-changed': { path: string };
  'not-written': { path: string; reason: string };
  'read-only': object;
  /** The person or token lacks the right. */
  'not-allowed': object;
  /** The person may not name this file, folder or variable of the host. */
  'host-reference': { reference: string };
  /** The person signing in has no role. */
  'no-role': { name: string };
  'not-assigned': { name: string };
  /** A request can be pinned once it has ended. */
  'request-runs': { id: string };
  'too-many-pins': { most: number };
  'no-sign-in': object;
  'token-without-person': object;
  'no-token': { id: string };
  'no-person': { id: string };
  /** `scope`: the scope that would be sufficient. */
  'scope-missing': { scope: string };
  /** Problems with a team's gateway. `reason` is English. */
  'gateway-address-wrong': { address: string };
  'gateway-away': { address: string; reason: string };
  'gateway-not-sluice': { address: string; status: number };
  'joined-already': { origin: string };
  'joining-expired': object;
  /** The person may not have a key in any group there. */
  'no-group-there': { origin: string };
  'id-taken': { id: string };
  'id-of-demo': { id: string };
  'demo-by-setting': object;
  'base-url-missing': object;
  'base-url-unfilled': { baseUrl: string };
  'leads-back': { host: string };
  'password-in-base-url': object;
  'query-in-base-url': object;
  'password-in-proxy': object;
  'certificate-of-vendor': { host: string };
  'secret-in-header': { header: string };
  /** The group or the key does not allow this model. */
  'not-for-key': { key: string; model: string };
  'provider-in-use': { provider: string; aliases: string };
  'group-in-use': { group: string; keys: string };
  'variable-unusable': { variable: string };
  'secret-not-kept': { key: string };
  'secret-lost': { key: string };
  'no-grace': { key: string };
  /** `reason`: names file and field, in English. */
  'cassette-unusable': { reason: string };
  /** Nothing asks for public prices or rates. */
  'prices-not-renewed': object;
  /** Another replica is reading or applying them. */
  'prices-in-work': object;
  'keychain-failed': { reason: string };
  /** `keys`: an Electron accelerator, such as `Control+Alt+S`. */
  'hotkey-taken': { keys: string };
  /** `reason`: in English, such as the program that failed. */
  'no-terminal': { reason: string };
  'sign-out-not-stored': { reason: string };
  /** Problems with a client's configuration file; paths in the form `~/.codex/config.toml`. */
  'client-not-configurable': { client: string };
  'client-not-connected': { client: string };
  'client-file-changed': object;
  'client-file-broken': { path: string; line: number };
  /** `extra`: 'comment', 'comma' or 'mark'. */
  'client-file-rejected': { path: string; client: string; extra: string; line: number };
  'client-file-uneditable': { path: string };
  'client-file-unreadable': { path: string; reason: string };
  'client-file-not-written': { path: string; reason: string };
  'client-file-outside-home': { path: string };
  'client-folder-missing': { path: string; file: string };
  /** Another program's configuration. `place` and `wanted` are English: what should stand there. */
  'adopt-unknown': object;
  'adopt-syntax': { line: number };
  'adopt-broken': { place: string; wanted: string };
  /** `rule`: its number, starting at 1. `field` is null if the problem is not about a field. `reason` is English. */
  'fault-rule-wrong': { rule: number; fault: string; field: string | null; reason: string };
  /** The rule can never apply, because every request meets `instead`, the fault of the rule with the number `other`. */
  'fault-rule-unmet': { rule: number; fault: string; other: number; instead: string };
  /** Changes that a team preset locks. `part`: the kind of entry, in English. */
  'locked-against-adding': { part: string; by: string; contact: string | null };
  'locked-against-changing': { name: string; part: string; by: string; contact: string | null };
  'locked-against-removing': { name: string; part: string; by: string; contact: string | null };
}

export type ControlProblem = Coded<ControlProblems>;
