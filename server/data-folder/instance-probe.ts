import { get } from 'node:http';
import { z } from 'zod';
import { reachableHost } from '../contract/address.ts';
import { systemErrorCode } from '../ground/files/file-problem.ts';
import { after } from '../ground/timers.ts';

const limitMs = 1_500;
const maxReplyBytes = 64 * 1024;
const healthSchema = z.object({ instance: z.string() });

/**
 * Errors that do not mean that the instance has ended. A process without free file descriptors accepts a connection and
 * closes it at once (ECONNRESET or EPIPE here); the other codes mean that this process itself has none left.
 */
const aliveErrorCodes = new Set(['ECONNRESET', 'EPIPE', 'EMFILE', 'ENFILE', 'ENOBUFS']);

/**
 * Whether `GET /healthz` at this address returns the given instance. A process that accepts a connection but does not
 * answer in time, or closes it, counts as the instance: a busy process must not lose its data folder.
 */
export function answersAsInstance(
  { host, port }: { host: string; port: number },
  instanceId: string,
): Promise<boolean> {
  return new Promise((resolve) => {
    let isConnected = false;
    const request = get({ host: reachableHost(host), port, path: '/healthz', agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        if (text.length > maxReplyBytes) request.destroy();
      });
      response.on('end', () => resolve(instanceOf(text) === instanceId));
      response.on('error', () => resolve(false));
    });
    request.on('socket', (socket) => socket.on('connect', () => (isConnected = true)));
    request.on('error', (error) => resolve(aliveErrorCodes.has(systemErrorCode(error) ?? '')));
    const timer = after(() => {
      resolve(isConnected);
      request.destroy();
    }, limitMs);
    request.on('close', () => clearTimeout(timer));
  });
}

function instanceOf(text: string): string | undefined {
  try {
    return healthSchema.parse(JSON.parse(text)).instance;
  } catch {
    return undefined;
  }
}
