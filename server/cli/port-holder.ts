/** Who holds a port: the process, and a Sluice with its data folder or another program by name. */
import { execFile } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { basename, dirname } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { reachableHost } from '../contract/address.ts';
import { after } from '../ground/timers.ts';

interface PortHolder {
  pid: number;
  /** The program's name. */
  name: string;
}

const commandLimitMs = 3_000;
/** Column `st` of /proc/net/tcp. */
const listenState = '0A';

/**
 * Finds the process that listens on a port: by `/proc` on Linux, `lsof` on macOS, `netstat` on Windows. Never throws.
 * Returns undefined if the process cannot be found, such as another user's process on Linux.
 */
export async function findPortHolder(port: number): Promise<PortHolder | undefined> {
  try {
    if (process.platform === 'linux') return await findInProc(port);
    if (process.platform === 'win32') return await findByNetstat(port);
    return parseLsof(await run('lsof', ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-Fpc']));
  } catch {
    return undefined;
  }
}

/** The inodes of sockets listening on `port`, from /proc/net/tcp or tcp6. */
export function parseProcNetTcp(table: string, port: number): string[] {
  const portHex = port.toString(16).toUpperCase().padStart(4, '0');
  return table.split('\n').flatMap((line) => {
    const [, local, , state, , , , , , inode] = line.trim().split(/\s+/);
    return state === listenState && local?.endsWith(`:${portHex}`) && inode ? [inode] : [];
  });
}

/** Parses `lsof -Fpc`, which prints a line `pPID` and a line `cNAME`. */
export function parseLsof(output: string): PortHolder | undefined {
  const [, pid, name] = /^p(\d+)\nc(.*)$/m.exec(output) ?? [];
  return pid && name ? { pid: Number(pid), name } : undefined;
}

/**
 * Parses `netstat -ano -p TCP`. The state is a localised word, so a listening socket is recognised by its foreign port
 * 0.
 */
export function parseNetstat(output: string, port: number): number | undefined {
  for (const line of output.split('\n')) {
    const [, local, foreign, , pid] = line.trim().split(/\s+/);
    if (local?.endsWith(`:${port}`) && foreign?.endsWith(':0') && pid) return Number(pid);
  }
  return undefined;
}

async function findInProc(port: number): Promise<PortHolder | undefined> {
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8').catch(() => '')),
  );
  const links = new Set(tables.flatMap((table) => parseProcNetTcp(table, port)).map((inode) => `socket:[${inode}]`));
  if (links.size === 0) return undefined;
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry) || !(await holdsSocket(entry, links))) continue;
    return { pid: Number(entry), name: await nameOf(entry) };
  }
  return undefined;
}

/** Node names its main thread `MainThread` (or `node-MainThread`); the executable's name is then more useful. */
async function nameOf(pid: string): Promise<string> {
  const name = (await readFile(`/proc/${pid}/comm`, 'utf8')).trim();
  return /^(node-)?MainThread$/.test(name) ? basename(await readlink(`/proc/${pid}/exe`)) : name;
}

async function holdsSocket(pid: string, links: ReadonlySet<string>): Promise<boolean> {
  const folder = `/proc/${pid}/fd`;
  // Other users' processes are not readable, and any process may have ended meanwhile.
  for (const descriptor of await readdir(folder).catch(() => [])) {
    if (links.has(await readlink(`${folder}/${descriptor}`).catch(() => ''))) return true;
  }
  return false;
}

async function findByNetstat(port: number): Promise<PortHolder | undefined> {
  const pid = parseNetstat(await run('netstat', ['-ano', '-p', 'TCP']), port);
  if (pid === undefined) return undefined;
  const task = await run('tasklist', ['/FI', `PID eq ${pid}`, '/FO', 'CSV', '/NH']);
  return { pid, name: /^"([^"]+)"/.exec(task)?.[1] ?? 'a program' };
}

async function run(command: string, parameters: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(command, parameters, { timeout: commandLimitMs });
  return stdout;
}

const limitMs = 1_000;
const maxReplyBytes = 64 * 1024;
const healthSchema = z.object({ status: z.literal('ok'), instance: z.string() });

interface DescribedHolder {
  isSluice: boolean;
  /** Example: `Sluice (process 4711, data folder /home/me/.local/share/sluice)`. */
  text: string;
}

/**
 * Describes the process that listens on a port: a Sluice with its data folder, or another program by name.
 *
 * Undefined if no process was found and `/healthz` does not answer as Sluice does.
 */
export async function describeHolder(host: string, port: number): Promise<DescribedHolder | undefined> {
  const [holder, isSluice] = await Promise.all([findPortHolder(port), answersAsSluice(host, port)]);
  if (isSluice) return { isSluice, text: await describeSluice(holder) };
  return holder && { isSluice, text: `${holder.name} (process ${holder.pid})` };
}

async function describeSluice(holder: PortHolder | undefined): Promise<string> {
  if (!holder) return 'a Sluice of another user';
  const dataDir = await findDataFolder(holder.pid);
  const folderText = dataDir === undefined ? '' : `, data folder ${dataDir}`;
  return `Sluice (process ${holder.pid}${folderText})`;
}

/** Whether its `/healthz` answers as Sluice does. */
function answersAsSluice(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { host: reachableHost(host), port, path: '/healthz', agent: false };
    const request = get(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        if (text.length > maxReplyBytes) request.destroy();
      });
      response.on('end', () => resolve(isHealth(text)));
      response.on('error', () => resolve(false));
    });
    request.on('error', () => resolve(false));
    const timer = after(() => request.destroy(new Error('timeout')), limitMs);
    request.on('close', () => {
      clearTimeout(timer);
      resolve(false);
    });
  });
}

function isHealth(text: string): boolean {
  try {
    return healthSchema.safeParse(JSON.parse(text)).success;
  } catch {
    return false;
  }
}

/** A running Sluice keeps this file in its data folder open. */
const openFile = 'ledger.sqlite';

/**
 * The data folder of the Sluice with this process id, found by its open files; undefined if it cannot be determined.
 */
async function findDataFolder(pid: number): Promise<string | undefined> {
  try {
    const files = process.platform === 'linux' ? await openFilesInProc(pid) : await openFilesByLsof(pid);
    const found = files.find((path) => basename(path) === openFile);
    return found && dirname(found);
  } catch {
    return undefined;
  }
}

async function openFilesInProc(pid: number): Promise<string[]> {
  const folder = `/proc/${pid}/fd`;
  const descriptors = await readdir(folder);
  return Promise.all(descriptors.map((descriptor) => readlink(`${folder}/${descriptor}`).catch(() => '')));
}

/** For macOS; Windows has no such command. */
async function openFilesByLsof(pid: number): Promise<string[]> {
  const { stdout } = await promisify(execFile)('lsof', ['-p', String(pid), '-Fn'], { timeout: commandLimitMs });
  return stdout.split('\n').flatMap((line) => (line.startsWith('n') ? [line.slice(1)] : []));
}

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
