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

/** The models of a provider that fail although it answers for others. */
export interface FailingModels {
  /** Null stands for requests that name no model. */
  models: readonly (string | null)[];
  /** How many it has; null: it takes any name. */
  total: number | null;
}

/** Null if none fails, or if the provider as a whole does. */
export function failingModelsOf({ health, modelNames, takesAnyModel }: ProviderView): FailingModels | null {
  if (health.state !== 'degraded' || health.models.length === 0) return null;
  const models = health.models.map(({ model }) => model);
  return { models, total: takesAnyModel ? null : Math.max(modelNames.length, models.length) };
}
