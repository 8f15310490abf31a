/** The files of the built window. Those that the build has compressed are sent so to browsers that accept it. */
import { readdir } from 'node:fs/promises';
import { basename, dirname, extname } from 'node:path';
import express, { type Request, type RequestHandler, type Response, Router } from 'express';

/** By preference. Firefox accepts Brotli over HTTPS only. */
const encodings = [
  { name: 'br', suffix: '.br' },
  { name: 'gzip', suffix: '.gz' },
] as const;

/** Of the files that `build/compressed-files.ts` compresses. */
const contentTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The pages, by their paths. */
const pages = new Map([
  ['/', '/index.html'],
  ['/panel', '/panel.html'],
]);

export function createPages(folder: string): RequestHandler {
  const router = Router();
  // Read with the first page, so that it costs nothing where no window is opened.
  let compressed: ReadonlySet<string> | null = null;
  router.get('/{*path}', async (request, response, next) => {
    compressed ??= await compressedPaths(folder);
    const path = pages.get(request.path) ?? request.path;
    const encoding = bestEncoding(request, path, compressed);
    const type = contentTypes[extname(path)];
    request.url = path;
    if (encoding && type) {
      request.url += encoding.suffix;
      response.set({ 'content-encoding': encoding.name, 'content-type': type });
    }
    next();
  });
  router.use(express.static(folder, { index: 'index.html', cacheControl: false, setHeaders: setCacheHeaders }));
  router.use((_request, response, next) => {
    // The response that replaces the file is not compressed.
    response.removeHeader('content-encoding');
    response.removeHeader('content-type');
    next();
  });
  return router;
}

function setCacheHeaders(response: Response, file: string): void {
  response.vary('accept-encoding');
  // A file in `assets` has a hash of its content in its name.
  const isHashed = basename(dirname(file)) === 'assets';
  response.set('cache-control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache');
}

function bestEncoding(request: Request, path: string, compressed: ReadonlySet<string>) {
  return encodings.find(({ name, suffix }) => compressed.has(path + suffix) && request.acceptsEncodings(name) === name);
}

/** As URL paths: `/assets/Keys-BIhWZ9sp.js.br`. */
async function compressedPaths(folder: string): Promise<ReadonlySet<string>> {
  const files = await readdir(folder, { recursive: true });
  const paths = files.map((file) => `/${file.replaceAll('\\', '/')}`);
  return new Set(paths.filter((path) => encodings.some(({ suffix }) => path.endsWith(suffix))));
}
