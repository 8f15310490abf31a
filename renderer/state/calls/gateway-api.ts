/**
 * Calls the gateway's own API from the window with a key, as any client would. The same gateway serves the window, so
 * addresses are relative. Independent of the control plane.
 */
import { windowTitle } from '../../../server/contract/ledger.ts';
import { parseJson, textAt } from './json-path.ts';

export interface GatewayCall {
  /** Below `/v1`, such as `/models`. */
  path: string;
  secret: string;
  method?: 'GET' | 'POST' | 'DELETE';
  /** An object is sent as JSON, a form as a form. */
  body?: object | FormData;
  signal?: AbortSignal;
}

/** Resolves with the response once its headers have arrived, whatever the status. */
export function callGateway({ path, secret, method = 'POST', body, signal }: GatewayCall): Promise<Response> {
  const isForm = body instanceof FormData;
  return fetch(`/v1${path}`, {
    method,
    cache: 'no-store',
    headers: {
      authorization: `Bearer ${secret}`,
      'x-title': windowTitle,
      ...(body && !isForm && { 'content-type': 'application/json' }),
    },
    ...(body && { body: isForm ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
  });
}

interface ErrorText {
  /** Short enough to stand above what else there is. */
  message: string;
  /** All that was said; null if the message is that. */
  whole: string | null;
}

const mostMessageChars = 300;
const mostWholeChars = 20_000;

/** What an error response says: its message in OpenAI's format, or otherwise its text. Of a web page, as proxies send them, its title or text. */
export function errorTextOf(text: string): ErrorText {
  const said = (textAt(parseJson(text), 'error', 'message') ?? text).slice(0, mostWholeChars).trim();
  const gist = gistOfPage(said) || said;
  const message = gist.length > mostMessageChars ? `${gist.slice(0, mostMessageChars)}…` : gist;
  return { message, whole: message === said ? null : said };
}

/** Empty if it is no page, or has no text. */
function gistOfPage(text: string): string {
  if (!/^<(?:!doctype|\?xml|html|head|body|center|h1)\b/i.test(text)) return '';
  const [, title] = /<(?:title|h1)(?: [^<>]{0,200})?>([^<>]{1,300})</i.exec(text) ?? [];
  const gist = title ?? text.replace(/<[^<>]*>/g, ' ');
  return gist.replaceAll('&nbsp;', ' ').replaceAll('&amp;', '&').replace(/\s+/g, ' ').trim();
}

export interface PathCall {
  method: string;
  /** The full path, for any API that Sluice serves: `/v1beta/models/…`. */
  path: string;
  secret: string;
  headers: Readonly<Record<string, string>>;
  /** Sent as it is; no body if empty. */
  body: string;
  signal: AbortSignal;
}

/**
 * Sends a request as a client wrote it. Resolves with the response once its headers have arrived, whatever the status.
 */
export function callPath({ method, path, secret, headers, body, signal }: PathCall): Promise<Response> {
  return fetch(path, {
    method,
    cache: 'no-store',
    // Distinguishes this request from those of the client that first sent it.
    headers: { ...headers, authorization: `Bearer ${secret}`, 'x-title': windowTitle },
    ...(body !== '' && { body }),
    signal,
  });
}
