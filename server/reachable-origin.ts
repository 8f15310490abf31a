/** The host by which this machine reaches a server listening on `host`; loopback if that is a wildcard address. */
export function reachableHost(host: string): string {
  return host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
}

/** The origin by which this machine reaches a server: `http://127.0.0.1:4810`. */
export function reachableOrigin({ host, port }: { host: string; port: number }): string {
  const reachable = reachableHost(host);
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
