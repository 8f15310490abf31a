import type { Limits } from '../../../server/contract/config.ts';
import type { CassetteDraft } from '../../components/cassette-draft.ts';

/** What was typed of a key. */
export interface KeyDraft {
  name: string;
  group: string;
  /** Days from now; `never`; `kept`: as it is. */
  expiry: number | 'never' | 'kept';
  /** Patterns of model names; none: all that the group allows. */
  models: string[];
  limits: Limits | undefined;
  capture: boolean;
  /** Its requests may ask for faults. */
  faults: boolean;
  cassette: CassetteDraft;
}

const dayMs = 86_400_000;

/** Reads the value of a menu. */
export function readExpiry(value: string): KeyDraft['expiry'] {
  return value === 'never' || value === 'kept' ? value : Number(value);
}

/** ISO 8601; null: it never expires. */
export function expiryOf(days: number | 'never', nowMs: number): string | null {
  return days === 'never' ? null : new Date(nowMs + days * dayMs).toISOString();
}
