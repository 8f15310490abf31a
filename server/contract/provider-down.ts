import type { ProviderView } from './provider-views.ts';

/** A first cooldown is shorter, so a provider counts as down only once the following trial has failed too. */
const worthReportingMs = 1_500;

/** Whether a provider answers no requests although it should; null if it is too soon to tell. */
export function isDown({ enabled, unusable, health }: ProviderView, nowMs: number): boolean | null {
  if (!enabled) return false;
  if (unusable !== null) return true;
  if (health.state !== 'cooling') return false;
  return health.until !== null && health.until - nowMs > worthReportingMs ? true : null;
}
