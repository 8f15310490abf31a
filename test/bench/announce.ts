import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Says on stdout that the server listens, in the form of `sluice serve --json`, and ends the process when asked to. */
export function announce(server: Server): void {
  const { port } = server.address() as AddressInfo;
  console.log(JSON.stringify({ event: 'ready', baseUrl: `http://127.0.0.1:${port}/v1` }));
  process.on('SIGTERM', () => process.exit(0));
}
