/**
 * The custom scheme from which the window's page is loaded: the built files, and the gateway under `/v1`, so that the page
 * needs no other origin. `docs/security.md` describes the page's headers.
 */
import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { Readable } from 'node:stream';
import { type Protocol, protocol } from 'electron';
import { pageHeaders } from '../server/contract/page-headers.ts';
import type { Gateway } from '../server/engine/gateway.ts';
import { forwardToEngine } from './forward-to-engine.ts';

const scheme = 'sluice-window';
const origin = `${scheme}://app`;

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
};

/** Not cached, since each version of Sluice has its own page. */
const ownHeaders = { ...pageHeaders, 'cache-control': 'no-store' };

interface WindowSchemePorts {
  /** Folder of the built window. */
  folder: string;
  /** `http://127.0.0.1:4810/v1`; null while the engine is not serving. */
  baseUrl(): string | null;
  /** Null while there is no engine. */
  gateway(): Pick<Gateway, 'exportRequests'> | null;
}

/** Electron accepts this only before `ready`. */
export function registerWindowScheme(): void {
  protocol.registerSchemesAsPrivileged([
    { scheme, privileges: { standard: true, secure: true, supportFetchAPI: true, stream: true, codeCache: true } },
  ]);
}

/** @param path path of the screen, such as `/providers`; becomes the hash of the URL */
export function windowUrl(path = '/'): string {
  return path === '/' ? `${origin}/` : `${origin}/#${path}`;
}

/** The page of the panel at the tray. */
export const panelUrl = `${origin}/panel.html`;

export function isWindowUrl(url: string): boolean {
  return url.startsWith(`${origin}/`);
}

export function serveWindow(protocolModule: Pick<Protocol, 'handle'>, ports: WindowSchemePorts): void {
  protocolModule.handle(scheme, async (request) => {
    const { host, pathname, search } = new URL(request.url);
    if (host !== 'app') return refuse(404);
    if (pathname.startsWith('/v1/')) {
      const baseUrl = ports.baseUrl();
      return baseUrl === null ? refuse(503) : forwardToEngine(request, baseUrl + pathname.slice('/v1'.length) + search);
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(405);
    const format = exportsByPath.get(pathname);
    if (format) return sendExport(ports.gateway(), format, search);
    return sendFile(ports.folder, pathname);
  });
}

const exportsByPath: ReadonlyMap<string, 'csv' | 'jsonl'> = new Map([
  ['/control/requests.csv', 'csv'],
  ['/control/requests.jsonl', 'jsonl'],
]);

/** Equivalent to the engine's route of the same path, for which the page has no session. */
function sendExport(
  gateway: Pick<Gateway, 'exportRequests'> | null,
  format: 'csv' | 'jsonl',
  search: string,
): Response {
  if (!gateway) return refuse(503);
  try {
    const pieces = gateway.exportRequests(format, Object.fromEntries(new URLSearchParams(search)));
    const body = Readable.toWeb(Readable.from(encoded(pieces))) as ReadableStream;
    const type = format === 'csv' ? 'text/csv; charset=utf-8' : 'application/jsonl; charset=utf-8';
    const disposition = `attachment; filename="requests.${format}"`;
    return new Response(body, { headers: { ...ownHeaders, 'content-type': type, 'content-disposition': disposition } });
  } catch {
    // A filter that does not exist.
    return refuse(400);
  }
}

async function* encoded(pieces: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) yield Buffer.from(piece);
}

/** Paths without an extension are screens of the page, so `index.html` is sent. */
async function sendFile(folder: string, pathname: string): Promise<Response> {
  const name = extname(pathname) === '' ? '/index.html' : normalize(decodeURIComponent(pathname));
  const type = contentTypes[extname(name)];
  if (!type || name.includes('..')) return refuse(404);
  try {
    const content = await readFile(join(folder, name));
    return new Response(content, { headers: { ...ownHeaders, 'content-type': type } });
  } catch {
    return refuse(404);
  }
}

function refuse(status: number): Response {
  return new Response(null, { status, headers: ownHeaders });
}
