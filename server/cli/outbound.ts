/**
 * Outbound calls of the command line itself, using the proxies of the environment. Imported only by commands that make
 * such calls.
 */
import type { Environment } from '../engine/environment.ts';
import { createTransport } from '../transport/create-transport.ts';
import { createFetch, type Fetch } from '../transport/fetch.ts';

interface Outbound {
  fetch: Fetch;
  close(): Promise<void>;
}

export function createOutbound({ proxies }: Pick<Environment, 'proxies'>): Outbound {
  const transport = createTransport({ proxies });
  return { fetch: createFetch(transport), close: () => transport.close() };
}
