/** Views of joining a team's gateway. */
import type { TeamPreset } from './team-preset.ts';

/** A joining that has begun, and waits for the person. */
export interface BegunJoin {
  /** For `team.finish-join`. */
  id: string;
  /** Of the team's gateway: `https://gateway.example`. */
  origin: string;
  /** What the person enters where; null: an earlier sign-in still counts. */
  signIn: { code: string; url: string } | null;
  /** How long to wait between two `team.finish-join`. */
  intervalSeconds: number;
  /** Unix milliseconds, after which it cannot be finished. */
  expiresAt: number;
}

/** `waiting`: the sign-in is pending; `choosing`: name one of the groups; `joined`: the provider is there. */
export type JoinState =
  | { state: 'waiting' }
  | { state: 'choosing'; groups: readonly { id: string; name: string | null }[] }
  /** `provider`: its id here; `key`: the id of the key there. */
  | { state: 'joined'; provider: string; key: string; group: string; preset: JoinPreset };

/**
 * Whether the gateway has a team preset for those who join. It is not applied yet: `team-preset.apply` does that, once the person has
 * seen `team-preset-preview`.
 */
export type JoinPreset =
  | { state: 'none' }
  | { state: 'offered'; preset: TeamPreset }
  /** This machine has a policy, or a built-in preset, which counts in its place. */
  | { state: 'managed' }
  /** `reason` is English. */
  | { state: 'unusable'; reason: string };
