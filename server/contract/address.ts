/** Addresses: where Sluice listens and is reached, and the base URLs of providers. */
import type { DialectId } from './config.ts';
import { isInNetwork, type Network, parseAddress, parseNetwork } from './host-rule.ts';
import type { StatusView } from './status-views.ts';

interface ServiceAddress {
  /** What is no address stays as it was given; its checks say why. */
  baseUrl: string;
  /** The API to which the call belongs whose address was pasted; null if that says nothing. */
  dialect: DialectId | null;
}

interface Tail {
  pattern: RegExp;
  dialect?: DialectId;
}

/** Ends of the addresses of calls, which documentation shows and people paste. The first that fits is removed. */
const tails: readonly Tail[] = [
  { pattern: /\/publishers\/[^/]+\/models\/[^/]+:\w+$/i, dialect: 'vertex' },
  { pattern: /\/models\/[^/]+:\w+$/i, dialect: 'gemini' },
  { pattern: /\/model\/[^/]+\/(?:converse|invoke)(?:-stream|-with-response-stream)?$/i, dialect: 'bedrock' },
  { pattern: /\/messages(?:\/count_tokens|\/batches)?$/i, dialect: 'anthropic' },
  // Azure's older addresses name the deployment; the v1 API at the same host needs neither that nor a version.
  { pattern: /(?<=\/openai)\/deployments\/[^/]+(?:\/(?:chat\/)?completions|\/embeddings|\/responses)$/i },
  { pattern: /\/(?:chat\/)?completions$/i, dialect: 'openai' },
  { pattern: /\/responses(?:\/compact|\/input_tokens)?$/i, dialect: 'openai' },
  {
    pattern:
      /\/(?:embeddings|moderations|images\/(?:generations|edits)|audio\/(?:speech|transcriptions|translations))$/i,
  },
  // Ollama's own API, beside which it serves those of others.
  { pattern: /^\/api\/(?:chat|generate|tags|embed|version)$/i },
  { pattern: /(?<=\/v\d\w*)\/models\/[^/]+$/i },
  { pattern: /\/models$/i },
];

/** Around an address that was copied out of a sentence, a shell command or a configuration file. */
const wrapping = /^(?:curl\s+|GET\s+|POST\s+)?["'`<(]*|["'`>),;]*$/g;

/**
 * The address of a service as people paste it, and the base URL that is meant. Pure, so that window, command line and
 * `/control` read it alike.
 */
export function readServiceAddress(text: string): ServiceAddress {
  const trimmed = text.trim().replace(wrapping, '').trim();
  // Presets have such parts for people to fill in.
  if (/[{}\s]/.test(trimmed)) return { baseUrl: text.trim(), dialect: null };
  const address = withScheme(trimmed);
  const [, origin, path = '', rest = ''] = /^(https?:\/\/[^/?#]+)([^?#]*)(.*)$/is.exec(address) ?? [];
  if (origin === undefined || !URL.canParse(address)) return { baseUrl: text.trim(), dialect: null };
  const plainPath = withoutSlashes(path);
  const tail = isBaseOfAzure(origin, plainPath) ? undefined : tails.find(({ pattern }) => pattern.test(plainPath));
  if (!tail) return { baseUrl: origin + plainPath + rest, dialect: null };
  // The query belonged to the call; Google's may even be a key.
  return { baseUrl: origin + withoutTail(plainPath, tail), dialect: tail.dialect ?? null };
}

/** Azure's model inference API, which is below `/models`. */
function isBaseOfAzure(origin: string, path: string): boolean {
  return /\.services\.ai\.azure\.com$/i.test(origin) && /^\/models$/i.test(path);
}

/** The base URL that is meant. */
export function cleanBaseUrl(text: string): string {
  return readServiceAddress(text).baseUrl;
}

function withoutTail(path: string, { pattern }: Tail): string {
  const rest = withoutSlashes(path.replace(pattern, ''));
  return path.includes('/openai/deployments/') ? `${rest}/v1` : rest;
}

/** Without those at its end. */
export function withoutSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end--;
  return path.slice(0, end);
}

function withScheme(address: string): string {
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(address)) return address;
  const bare = address.replace(/^\/\//, '');
  const url = URL.parse(`http://${bare}`);
  if (bare === '' || url === null) return address;
  return isNearby(url) && url.port !== '443' ? `http://${bare}` : `https://${bare}`;
}

const networksOf = (entries: readonly string[]) =>
  entries.map(parseNetwork).filter((network): network is Network => network !== null);

const loopback = networksOf(['127.0.0.0/8', '::1/128']);

/** Whether the hostname of a URL, as `URL` writes it, is this machine's own in any spelling. */
export function isLoopback(hostname: string): boolean {
  const name = hostname.replace(/\.$/, '');
  const address = parseAddress(name);
  if (address) return loopback.some((network) => isInNetwork(address, network));
  return name === 'localhost' || name.endsWith('.localhost');
}

/** Private, link-local and carrier-grade networks; the last is also that of Tailscale. */
const nearNetworks = networksOf([
  '0.0.0.0/32',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '169.254.0.0/16',
  '100.64.0.0/10',
  'fc00::/7',
  'fe80::/10',
]);

/** Names that only resolve within a network: those without a dot, and those reserved for that. */
const nearName = /^[^.]+$|\.(?:localhost|local|lan|home|internal|home\.arpa)$/i;

/** Whether the host is this machine or in its network, where servers usually have no certificate. */
function isNearby({ hostname }: URL): boolean {
  if (isLoopback(hostname)) return true;
  const address = parseAddress(hostname);
  if (!address) return nearName.test(hostname.replace(/\.$/, ''));
  return nearNetworks.some((network) => isInNetwork(address, network));
}

/** Labels of a country's domain below which organisations register: `example.co.uk`. */
const registries = new Set(['ac', 'co', 'com', 'edu', 'gov', 'ne', 'net', 'or', 'org']);

/**
 * What a person would call the service at an address: `localhost-8080` on this machine, the host's name in its network,
 * `deepseek` for `https://api.deepseek.com/v1`. Undefined if it is no address.
 */
export function nameOfAddress(baseUrl: string): string | undefined {
  const url = URL.parse(baseUrl);
  if (!url) return undefined;
  const { hostname, port } = url;
  if (isLoopback(hostname)) return port ? `localhost-${port}` : 'localhost';
  if (parseAddress(hostname)) return hostname;
  const labels = hostname.split('.').filter(Boolean);
  if (isNearby(url)) return labels[0];
  const isOfCountry = labels.length > 2 && labels.at(-1)?.length === 2 && registries.has(labels.at(-2) ?? '');
  return labels.at(isOfCountry ? -3 : -2) ?? hostname;
}

/** The host by which this machine reaches a server listening on `host`; loopback if that is a wildcard address. */
export function reachableHost(host: string): string {
  return host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
}

/** The origin by which this machine reaches a server: `http://127.0.0.1:4810`. */
export function reachableOrigin({ host, port }: { host: string; port: number }): string {
  const reachable = reachableHost(host);
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** The base URL of OpenAI's API at an origin. */
export function baseUrlAt(origin: string): string {
  return `${origin}/v1`;
}

/**
 * The base URL to give to clients, wherever they run: the public address if there is one. While Sluice does not listen,
 * the one at which it would by its settings.
 */
export function baseUrlOf({ baseUrl, settings }: Pick<StatusView, 'baseUrl' | 'settings'>): string {
  return baseUrl ?? baseUrlAt(reachableOrigin(settings));
}

/** The same as an origin, for clients that add the path themselves. */
export function originOf(status: Pick<StatusView, 'baseUrl' | 'settings'>): string {
  return new URL(baseUrlOf(status)).origin;
}

/** Whether people and programs reach Sluice at another address than the one where it listens: `serve --public-url`. */
export function isBehindPublicAddress({ baseUrl, listensAt }: Pick<StatusView, 'baseUrl' | 'listensAt'>): boolean {
  return baseUrl !== null && listensAt !== null && baseUrl !== baseUrlAt(listensAt);
}
