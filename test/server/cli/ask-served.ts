/** Sends a request with a key to a running Sluice. */
export function get(url: string, key: string): Promise<Response> {
  return fetch(url, { headers: { authorization: `Bearer ${key}` } });
}
