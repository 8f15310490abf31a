import type { ProviderView } from './provider-views.ts';

/** A first cooldown is shorter, so it is reported only once the trial that follows it has failed, too. */
const worthReportingMs = 1_500;

/** Whether a provider answers no requests, though it should; null: too soon to say. */
export function isDown({ enabled, unusable, health }: ProviderView, nowMs: number): boolean | null {
  if (!enabled) return false;
  if (unusable !== null) return true;
  if (health.state !== 'cooling') return false;
  return health.until !== null && health.until - nowMs > worthReportingMs ? true : null;
}
