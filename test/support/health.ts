import type { CooldownView, ProviderHealthView } from '../../server/contract/provider-views.ts';

/** The state of a provider that is used normally. */
export const well: CooldownView = { state: 'ok', failure: null, reason: null, until: null };

export const wellProvider: ProviderHealthView = { ...well, firstByteMs: null, errorRate: null, models: [] };
