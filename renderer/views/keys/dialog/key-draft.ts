import type { KeyView } from '../../../../server/contract/access-views.ts';
import type { Limits } from '../../../../server/contract/limit-settings.ts';
import { dayMs } from '../../../../server/contract/units.ts';

/** Settings of a key as edited. */
export interface KeyDraft {
  name: string;
  group: string;
  /** Days from now; `never`; `kept`: unchanged. */
  expiry: number | 'never' | 'kept';
  /** Patterns of model names; empty for all that the group allows. */
  models: string[];
  limits: Limits | undefined;
  capture: boolean;
}

export function draftOf(view: KeyView): KeyDraft {
  return {
    name: view.name ?? '',
    group: view.group,
    expiry: view.expiresAt === null ? 'never' : 'kept',
    models: view.models ?? [],
    limits: view.limits ?? undefined,
    capture: view.capture,
  };
}

/** Parses the value of a menu. */
export function readExpiry(value: string): KeyDraft['expiry'] {
  return value === 'never' || value === 'kept' ? value : Number(value);
}

/** ISO 8601; null if it never expires. */
export function expiryOf(days: number | 'never', nowMs: number): string | null {
  return days === 'never' ? null : new Date(nowMs + days * dayMs).toISOString();
}
