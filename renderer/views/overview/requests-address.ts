import type { Dimension } from './load-usage.ts';

/** Which requests: the fields of the Requests screen's address. */
export interface RequestsMeant {
  outcome?: 'error' | 'running';
  /** A status, or all that begin with its digit: `4xx`. */
  status?: string;
  model?: string;
  provider?: string;
  key?: string;
  group?: string;
  /** Unix milliseconds; `until` is exclusive. */
  since?: number;
  until?: number;
}

/** Where those requests are listed. */
export function requestsAddress(meant: RequestsMeant): string {
  const search = new URLSearchParams(
    Object.entries(meant).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );
  return search.size === 0 ? '/requests' : `/requests?${search}`;
}

/** The requests of a model, provider, key or group; null: they have none, and cannot be listed by it. */
export function requestsOf(by: Dimension, name: string | null, meant: RequestsMeant): string | null {
  return name === null ? null : requestsAddress({ ...meant, [by]: name });
}
