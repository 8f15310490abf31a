/** Which models cost nothing, because they run on the person's own machine. */
import type { ProviderConfig } from '../contract/config.ts';
import { isLoopback } from '../transport/is-loopback.ts';
import { presets } from './presets.ts';

const localPresets = new Set<string | undefined>(presets.filter(({ isLocal }) => isLocal).map(({ id }) => id));

/**
 * As configured; if that says nothing, whether it is a known local server on this machine. Another server at such an
 * address may be a proxy to a service that is paid for.
 */
export function isLocalFree({ free, preset, baseUrl }: Pick<ProviderConfig, 'free' | 'preset' | 'baseUrl'>): boolean {
  return free ?? (localPresets.has(preset) && isLoopback(new URL(baseUrl).hostname));
}

/** Ollama's tag for models that its service runs, also as a part of another (ollama/ollama#14574): `gpt-oss:120b-cloud`. */
const cloudTag = /(?:^|[:-])cloud(?::|$)/i;

export function costsNothing(provider: Pick<ProviderConfig, 'free' | 'preset' | 'baseUrl'>, model: string): boolean {
  return isLocalFree(provider) && !cloudTag.test(model);
}
