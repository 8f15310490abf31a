/**
 * Chromium cannot be taught a scheme over CDP, so `sluice-window://app/` is `https://app.sluice-window.test/` inside of it;
 * everything outside sees the scheme's URL.
 */
const schemeHost = '.sluice-window.test';

/** Where Chromium keeps what the window stores. */
export const windowOrigin = `https://app${schemeHost}`;

export function toHttps(url: string): string {
  const { host, pathname, search, hash } = new URL(url);
  return url.startsWith('sluice-window:') ? `https://${host}${schemeHost}${pathname}${search}${hash}` : url;
}

export function toScheme(url: string): string {
  const { hostname, pathname, search, hash } = new URL(url);
  if (!hostname.endsWith(schemeHost)) return url;
  return `sluice-window://${hostname.slice(0, -schemeHost.length)}${pathname}${search}${hash}`;
}
