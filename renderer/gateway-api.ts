/**
 * The gateway's own API as any client sees it, asked from the window with a key. The window is served by the very gateway,
 * so the address is its own; nothing here knows of the control plane.
 */
import { windowTitle } from '../server/contract/clients/known-clients.ts';

export interface GatewayCall {
  /** Below `/v1`, such as `/models`. */
  path: string;
  secret: string;
  method?: 'GET' | 'POST' | 'DELETE';
  /** An object goes as JSON, a form as a form. */
  body?: object | FormData;
  signal?: AbortSignal;
}

/** The reply as soon as its headers are here, whatever its status. */
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

/** What an error reply says in OpenAI's shape, else its text. */
export function errorMessageOf(text: string): string {
  try {
    const reply: unknown = JSON.parse(text);
    if (hasError(reply)) return reply.error.message;
  } catch {
    // Then it is no JSON, and its text is all there is.
  }
  return text.slice(0, 500);
}

function hasError(reply: unknown): reply is { error: { message: string } } {
  if (typeof reply !== 'object' || reply === null || !('error' in reply)) return false;
  const { error } = reply;
  return typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string';
}

export interface PathCall {
  method: string;
  /** Of any API that Sluice serves: `/v1beta/models/…`. */
  path: string;
  secret: string;
  headers: Readonly<Record<string, string>>;
  /** Sent as it is; empty: none. */
  body: string;
  signal: AbortSignal;
}

/** A request as a client wrote it; the reply as soon as its headers are here, whatever its status. */
export function callPath({ method, path, secret, headers, body, signal }: PathCall): Promise<Response> {
  return fetch(path, {
    method,
    cache: 'no-store',
    // Told apart from the client whose request it was: that one has not come again.
    headers: { ...headers, authorization: `Bearer ${secret}`, 'x-title': windowTitle },
    ...(body !== '' && { body }),
    signal,
  });
}
