/** Cache keys for answers about models: each changes whenever the answer may have changed. Pure. */
import type { ConfigViews } from '../../../server/contract/events.ts';

type ConfigState = { views: Pick<ConfigViews, 'providers' | 'status'> | null };

/** For the models of a key or group, which depend on the configuration and on what each provider lists. */
export function modelListVersion({ views }: ConfigState): string {
  return views ? [views.status.revision, ...views.providers.map(({ discovery }) => discovery?.refreshedAt)].join() : '';
}

/** For the routes of models, which also depend on the health of each provider. */
export function modelRouteVersion(state: ConfigState): string {
  const health = state.views?.providers.map(({ health: { state, until } }) => `${state} ${until}`) ?? [];
  return [modelListVersion(state), ...health].join();
}
