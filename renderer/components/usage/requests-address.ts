import type { Dimension } from './load-usage.ts';

/** A selection of requests, as fields of the Requests screen's address. */
export interface RequestsAddressFilter {
  outcome?: 'failed' | 'refused' | 'running';
  /** A status, or all with the same first digit: `4xx`. */
  status?: string;
  model?: string;
  provider?: string;
  key?: string;
  group?: string;
  /** Unix milliseconds; `until` is exclusive. */
  since?: number;
  until?: number;
}

/** The address that lists these requests. */
export function requestsAddress(filter: RequestsAddressFilter): string {
  const search = new URLSearchParams(
    Object.entries(filter).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );
  return search.size === 0 ? '/requests' : `/requests?${search}`;
}

/**
 * The address of the requests of a model, provider, key or group; null for requests without one, which cannot be
 * listed.
 */
export function requestsAddressOf(by: Dimension, name: string | null, filter: RequestsAddressFilter): string | null {
  return name === null ? null : requestsAddress({ ...filter, [by]: name });
}
