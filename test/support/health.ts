import type { CooldownView, ProviderHealthView } from '../../server/contract/provider-views.ts';

/** Of what is asked as ever. */
export const well: CooldownView = { state: 'ok', failure: null, reason: null, until: null };

export const wellProvider: ProviderHealthView = { ...well, firstByteMs: null, errorRate: null, models: [] };
