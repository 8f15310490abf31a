import { createServer } from 'node:net';
import { describeHolder } from './describe-holder.ts';

const triedPorts = 20;

/** Names the process that listens on the port, and a free port to use instead. */
export async function describeTakenPort(host: string, port: number): Promise<string> {
  const [holder, free] = await Promise.all([describeHolder(host, port), nextFreePort(host, port + 1)]);
  const alternative =
    free === undefined ? 'use any free port with --port 0' : `use the free port ${free} with --port ${free}`;
  const holderText = holder?.text ?? 'another program';
  const first = holder?.isSluice ? 'Use that one, stop it' : 'Stop it';
  return `Port ${port} is taken by ${holderText}. ${first}, or ${alternative}.`;
}

async function nextFreePort(host: string, first: number): Promise<number | undefined> {
  for (let port = first; port < first + triedPorts && port <= 65_535; port++) {
    if (await isFree(host, port)) return port;
  }
  return undefined;
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host, port }, () => server.close(() => resolve(true)));
  });
}
