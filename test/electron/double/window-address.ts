/**
 * CDP cannot register a scheme in Chromium, so `sluice-window://app/` is `https://app.sluice-window.test/` within it.
 * All code outside Chromium sees the scheme's URL.
 */
const schemeHost = '.sluice-window.test';

/** The origin under which Chromium stores the window's data. */
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
