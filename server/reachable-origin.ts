/** By which host this machine reaches a program that listens on `host`: one that listens everywhere, by loopback. */
export function reachableHost(host: string): string {
  return host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
}

/** Where this machine reaches a program that listens: `http://127.0.0.1:4810`. */
export function reachableOrigin({ host, port }: { host: string; port: number }): string {
  const reachable = reachableHost(host);
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
