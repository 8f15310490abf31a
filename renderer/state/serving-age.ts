/** Texts that are others whenever an answer about models may be another. Pure. */
import type { ConfigViews } from '../../server/contract/events.ts';

type Known = { views: Pick<ConfigViews, 'providers' | 'status'> | null };

/** What the models of a key or group hang on: the configuration, and what each provider lists. */
export function listingAge({ views }: Known): string {
  return views ? [views.status.revision, ...views.providers.map(({ discovery }) => discovery?.refreshedAt)].join() : '';
}

/** What their routes hang on: that, and how each provider does. */
export function servingAge(state: Known): string {
  const health = state.views?.providers.map(({ health: { state, until } }) => `${state} ${until}`) ?? [];
  return [listingAge(state), ...health].join();
}
