/**
 * A real Express server that receives uploads and reads them back as they would be sent upstream, so that tests can
 * inspect both.
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import express from 'express';
import { GatewayError } from '../../../../server/contract/errors.ts';
import type { Sendable } from '../../../../server/exchange/request/request-body.ts';
import { type MultipartBody, receiveMultipart } from '../../../../server/http/body/multipart.ts';
import { spoolCounts } from '../../../../server/http/body/spool.ts';
import { eventually } from '../../../support/eventually.ts';

export interface Upload {
  /** The body as the client sent it, and as it would be forwarded. */
  sent: Buffer;
  forwarded: Buffer;
  body: MultipartBody;
}

interface Limits {
  maxBytes?: number;
  memoryBytes?: number;
  folder?: string;
}

export interface UploadServer {
  url: string;
  port: number;
  uploads: Upload[];
  errors: unknown[];
  limits: Limits;
  /** The temporary files that currently exist. */
  files(): Promise<string[]>;
  close(): Promise<void>;
}

export async function startUploadServer(): Promise<UploadServer> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-upload-'));
  const state: Pick<UploadServer, 'uploads' | 'errors' | 'limits'> = { uploads: [], errors: [], limits: {} };
  const app = express();
  app.post('/{*path}', async (request, response) => {
    const sent: Buffer[] = [];
    request.on('data', (chunk: Buffer) => sent.push(Buffer.from(chunk)));
    try {
      const body = await receiveMultipart(request, response, { folder, maxBytes: 64 * 1024 * 1024, ...state.limits });
      const forwarded = await readAll(body.spool.whole());
      await body.spool.dispose();
      state.uploads.push({ sent: Buffer.concat(sent), forwarded, body });
      response.json({ fields: body.fields, files: body.files, size: body.size });
    } catch (error) {
      state.errors.push(error);
      response.status(error instanceof GatewayError ? error.kind.status : 500).json({ error: String(error) });
    }
  });
  const server = await new Promise<Server>((resolve) => {
    const listening = app.listen(0, '127.0.0.1', () => resolve(listening));
  });
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, {
    port,
    url: `http://127.0.0.1:${port}`,
    files: () => readdir(folder),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true });
    },
  });
}

export async function readAll(body: Sendable): Promise<Buffer> {
  const opened = body.open();
  return Buffer.isBuffer(opened) ? opened : buffer(opened);
}

export async function nothingIsLeft(): Promise<void> {
  await eventually(() => spoolCounts.spools === 0 && spoolCounts.files === 0);
}

/** Parts as they are between the delimiters; a string contains the part's headers and its value. */
export function multipart(boundary: string, parts: readonly (string | Buffer)[]): Buffer {
  const pieces = parts.flatMap((part) => [Buffer.from(`--${boundary}\r\n`), Buffer.from(part), Buffer.from('\r\n')]);
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
}

export function field(name: string, value: string): string {
  return `Content-Disposition: form-data; name="${name}"\r\n\r\n${value}`;
}

export function file(name: string, filename: string, content: Buffer | string = 'bytes'): Buffer {
  const head = `Content-Disposition: form-data; name="${name}"; filename="${filename}"\r\nContent-Type: application/x-test\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.from(content)]);
}

export function post(server: UploadServer, body: Buffer, contentType: string): Promise<Response> {
  return fetch(server.url, { method: 'POST', headers: { 'content-type': contentType }, body: new Uint8Array(body) });
}

/** A connection on which a test writes the request itself; `reply` returns what was received. */
export async function rawRequest(port: number, head: string): Promise<{ socket: Socket; reply: () => string }> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\n${head}\r\n\r\n`);
  return { socket, reply: () => text };
}
