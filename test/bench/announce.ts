import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Prints that the server is listening, in the format of `sluice serve --json`, and ends the process on SIGTERM. */
export function announce(server: Server): void {
  const { port } = server.address() as AddressInfo;
  console.log(JSON.stringify({ event: 'ready', baseUrl: `http://127.0.0.1:${port}/v1` }));
  process.on('SIGTERM', () => process.exit(0));
}
