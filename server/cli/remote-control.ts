/**
 * The control plane of the Sluice running on a data folder, reached over its `/control` routes with the folder's admin
 * token. Uses node:http directly, because a proxy in the environment must never see the token.
 */
import { readFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { reachableHost, reachableOrigin } from '../contract/address.ts';
import { readEvents, refusal, replySchema } from '../contract/control-replies.ts';
import type { EventMessage } from '../contract/events.ts';
import { adminTokenFileName } from '../control/admin-token.ts';
import { findFallbackFolder, type InstanceInfo } from '../data-folder/instance-lock.ts';
import { describeFileProblem, systemErrorCode } from '../ground/files/regular-file.ts';
import type { ListeningControl } from './control.ts';
import { CliError } from './programs/exit-codes.ts';

interface Peer {
  host: string;
  port: number;
  token: string;
}

/** Rejects with a CliError if the instance does not listen (yet) or its token cannot be read. */
export async function openRemoteControl(dataDir: string, holder: InstanceInfo): Promise<ListeningControl> {
  if (holder.host === null || holder.port === null) {
    throw new CliError(`A Sluice is starting on ${dataDir} (process ${holder.pid}). Try again.`);
  }
  const peer = { host: reachableHost(holder.host), port: holder.port, token: await readToken(dataDir) };
  // The results come from Sluice itself, so only the envelope is validated.
  return {
    origin: reachableOrigin(peer),
    execute: async <Result>(command: object) => (await post(peer, '/control/execute', command)) as Result,
    query: async <Result>(query: object) => (await post(peer, '/control/query', query)) as Result,
    openEvents: () => openEvents(peer),
    close: async () => {},
  };
}

/**
 * Reads the fallback folder if a Sluice with an unwritable data folder keeps the token there, otherwise the data
 * folder.
 */
async function readToken(dataDir: string): Promise<string> {
  const path = join(dataDir, adminTokenFileName);
  const fallback = findFallbackFolder(dataDir);
  try {
    const fallbackToken =
      fallback && (await readFile(join(fallback, adminTokenFileName), 'utf8').catch(() => undefined));
    return (fallbackToken ?? (await readFile(path, 'utf8'))).trim();
  } catch (error) {
    throw new CliError(`The admin token ${path} cannot be read: ${describeFileProblem(error)}.`);
  }
}

async function post(peer: Peer, path: string, body: object): Promise<unknown> {
  const response = await send(peer, { method: 'POST', path, body: JSON.stringify(body) });
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  const reply = replySchema.parse(JSON.parse(text));
  if ('error' in reply) throw refusal(reply.error);
  return reply.result;
}

async function openEvents(peer: Peer): Promise<AsyncIterable<EventMessage>> {
  const response = await send(peer, { method: 'GET', path: '/control/events' });
  if (response.statusCode !== 200) throw new CliError(`The event stream was refused (status ${response.statusCode}).`);
  return untilReset(readEvents(response.setEncoding('utf8')));
}

/** Ends normally when the instance ends. */
async function* untilReset(events: AsyncIterable<EventMessage>): AsyncIterable<EventMessage> {
  try {
    yield* events;
  } catch (error) {
    if (systemErrorCode(error) !== 'ECONNRESET') throw error;
  }
}

function send(
  { host, port, token }: Peer,
  { method, path, body }: { method: string; path: string; body?: string },
): Promise<IncomingMessage> {
  // The guard accepts `localhost` whatever address the server listens on.
  const headers = { host: `localhost:${port}`, authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const outgoing = request({ host, port, method, path, headers, agent: false }, resolve);
    outgoing.on('error', (error) => reject(new CliError(`The running Sluice does not answer: ${error.message}.`)));
    outgoing.end(body);
  });
}
