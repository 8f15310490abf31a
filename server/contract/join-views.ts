/** Views of joining a team's gateway. */
import type { TeamPreset } from './team-preset.ts';

/** A join that has begun and waits for the person. */
export interface BegunJoin {
  /** For `team.finish-join`. */
  id: string;
  /** Origin of the team's gateway: `https://gateway.example`. */
  origin: string;
  /** The code to enter and the page to enter it on; null if an earlier sign-in is still valid. */
  signIn: { code: string; url: string } | null;
  /** Time to wait between two `team.finish-join` commands. */
  intervalSeconds: number;
  /** Unix milliseconds, after which the join cannot be finished. */
  expiresAt: number;
}

/**
 * `waiting`: the person has not approved it yet; `choosing`: a group must be chosen; `joined`: the provider has been
 * added.
 */
export type JoinState =
  | { state: 'waiting' }
  | { state: 'choosing'; groups: readonly { id: string; name: string | null }[] }
  /** `provider`: its id here; `key`: the id of the key on the gateway. */
  | { state: 'joined'; provider: string; key: string; group: string; preset: JoinPreset };

/**
 * Whether the gateway offers a team preset to those who join. It is not applied yet: `team-preset.apply` does that,
 * after the person has seen `team-preset-preview`.
 */
export type JoinPreset =
  | { state: 'none' }
  | { state: 'offered'; preset: TeamPreset }
  /** This machine has a policy or a built-in preset, which takes precedence. */
  | { state: 'managed' }
  /** `reason` is English. */
  | { state: 'unusable'; reason: string };
