/** Entries of `allowedOrigins`: origins as browsers write them in the header Origin, and patterns of them. Pure. */
import { globOf } from './host-rule.ts';

type OriginRule = (origin: string) => boolean;

const form = /^([a-z][a-z0-9+.-]*):\/\/([^\s/?#@]+?)(?::(\d{1,5}|\*))?$/i;

/** Pages of these schemes send the origin `null`, or the origin of the page that made them. */
const neverSent: ReadonlySet<string> = new Set(['ws', 'wss', 'data', 'blob', 'about', 'javascript']);

/**
 * Reads an origin (`https://app.example`), or a pattern in which `*` stands for any port (`http://localhost:*`), for
 * subdomains (`https://*.example.com`) or for the changing name of an extension or web view (`chrome-extension://*`,
 * `vscode-webview://*`). Null if no origin can match, or if pages of any website would.
 */
export function parseOriginRule(entry: string): OriginRule | null {
  if (entry === 'null') return (origin) => origin === 'null';
  const [, scheme = '', host = '', port] = form.exec(entry) ?? [];
  const protocol = scheme.toLowerCase();
  if (protocol === '' || neverSent.has(protocol)) return null;
  const isWeb = protocol === 'http' || protocol === 'https';
  return isWeb ? webRule(protocol, host, port) : otherRule(`${protocol}://${host}`, port);
}

function webRule(protocol: string, host: string, port: string | undefined): OriginRule | null {
  if (!host.includes('*')) {
    const url = URL.parse(`${protocol}://${host}${port === undefined || port === '*' ? '' : `:${port}`}`);
    if (!url) return null;
    return port === '*'
      ? ofHost((name) => name === url.hostname, { protocol, port })
      : (origin) => origin === url.origin;
  }
  const isName = isWebPattern(host);
  return isName ? ofHost(isName, { protocol, port }) : null;
}

/**
 * A `*` at the beginning stands for one or more labels, elsewhere for a part of one. What follows must be a site's own:
 * `*` and `*.com` would admit any website.
 */
function isWebPattern(host: string): ((name: string) => boolean) | null {
  const labels = host.toLowerCase().split('.');
  const [first = '', ...rest] = labels;
  const isOwn = rest.length >= 2 || rest.join('.') === 'localhost';
  if (!isOwn || rest.some((label) => label === '' || label.includes('*'))) return null;
  const suffix = URL.parse(`http://${rest.join('.')}`)?.hostname;
  if (suffix === undefined || !/^[a-z0-9*_-]+$/.test(first)) return null;
  const matches = globOf(first);
  return (name) => {
    if (!name.endsWith(`.${suffix}`)) return false;
    const before = name.slice(0, -suffix.length - 1);
    return first === '*' ? before !== '' : !before.includes('.') && matches(before);
  };
}

function ofHost(
  isHost: (name: string) => boolean,
  { protocol, port }: { protocol: string; port: string | undefined },
): OriginRule {
  const wanted = port === '*' || port === undefined ? port : URL.parse(`${protocol}://any:${port}`)?.port;
  return (origin) => {
    const url = URL.parse(origin);
    if (url?.protocol !== `${protocol}:` || url.origin !== origin || !isHost(url.hostname)) return false;
    return wanted === '*' || url.port === (wanted ?? '');
  };
}

/** Extensions, web views and desktop applications. */
function otherRule(start: string, port: string | undefined): OriginRule {
  const matches = globOf(`${start}${port === undefined ? '' : `:${port}`}`.toLowerCase());
  return (origin) => matches(origin.toLowerCase());
}
