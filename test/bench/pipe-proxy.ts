/**
 * The minimum cost of a gateway on Node: `node:http` and undici, which relay bytes without inspecting them. The
 * argument is the upstream's origin.
 */
import http, { type IncomingHttpHeaders } from 'node:http';
import { type Dispatcher, Pool } from 'undici';
import { announce } from './announce.ts';

const pool = new Pool(process.argv[2] ?? '', { keepAliveTimeout: 60_000 });

const server = http.createServer((request, response) => {
  let upstream: Dispatcher.DispatchController | undefined;
  response.on('close', () => {
    if (!response.writableFinished) upstream?.abort(new Error('the client left'));
  });
  const { host: _, connection: __, ...headers } = request.headers;
  pool.dispatch(
    { path: request.url ?? '/', method: request.method ?? 'GET', headers, body: request },
    {
      onRequestStart(controller) {
        upstream = controller;
      },
      onResponseStart(_controller, status, replyHeaders) {
        response.writeHead(status, ownHeaders(replyHeaders));
      },
      onResponseData(controller, chunk) {
        if (response.write(chunk)) return;
        controller.pause();
        response.once('drain', () => controller.resume());
      },
      onResponseEnd() {
        response.end();
      },
      onResponseError() {
        response.destroy();
      },
    },
  );
});

/** Removes the headers that only concern the connection to the upstream. */
function ownHeaders(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { connection: _, 'keep-alive': __, 'transfer-encoding': ___, ...rest } = headers;
  return rest;
}

server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => announce(server));
