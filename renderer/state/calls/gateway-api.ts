/**
 * Calls the gateway's own API from the window with a key, as any client would. The same gateway serves the window, so
 * addresses are relative. Independent of the control plane.
 */
import { windowTitle } from '../../../server/contract/ledger.ts';

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

/** The message of an error response in OpenAI's format, or otherwise its text. */
export function errorMessageOf(text: string): string {
  try {
    const reply: unknown = JSON.parse(text);
    if (hasError(reply)) return reply.error.message;
  } catch {
    // Not JSON: the text is used as it is.
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
