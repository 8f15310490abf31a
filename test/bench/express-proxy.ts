/**
 * A gateway as a first attempt would be written: Express with its JSON parser, undici's `request`, and `pipeline`. The
 * argument is the upstream's origin.
 */
import { pipeline } from 'node:stream';
import express, { type Request, type Response } from 'express';
import { Pool } from 'undici';
import { announce } from './announce.ts';
import { clientKey, model } from './payloads.ts';

const pool = new Pool(process.argv[2] ?? '', { keepAliveTimeout: 60_000 });
const app = express();

app.use((request, response, next) => {
  if (request.headers.authorization === `Bearer ${clientKey}`) next();
  else response.status(401).json({ error: { message: 'unknown key' } });
});

app.post('/v1/chat/completions', express.json({ limit: '64mb' }), (request, response) => {
  if (request.body.model === model) return forward(request, response, JSON.stringify(request.body));
  response.status(404).json({ error: { message: 'unknown model' } });
});

app.post('/v1/audio/transcriptions', (request, response) => forward(request, response, request));

async function forward(request: Request, response: Response, body: string | Request): Promise<void> {
  const abort = new AbortController();
  response.on('close', () => abort.abort());
  const contentType = request.headers['content-type'] ?? 'application/json';
  const reply = await pool.request({
    path: request.originalUrl,
    method: 'POST',
    headers: { authorization: 'Bearer provider', 'content-type': contentType },
    body,
    signal: abort.signal,
  });
  response.status(reply.statusCode);
  for (const name of ['content-type', 'content-length']) {
    const value = reply.headers[name];
    if (value !== undefined) response.setHeader(name, value);
  }
  pipeline(reply.body, response, () => {});
}

const server = app.listen(0, '127.0.0.1', () => announce(server));
server.keepAliveTimeout = 60_000;
