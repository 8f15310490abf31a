/**
 * Finds the process that listens on a port: by `/proc` on Linux, `lsof` on macOS, `netstat` on Windows. Never throws.
 * Returns undefined if the process cannot be found, such as another user's process on Linux.
 */
import { execFile } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { basename } from 'node:path';
import { promisify } from 'node:util';

export interface PortHolder {
  pid: number;
  /** The program's name. */
  name: string;
}

const commandLimitMs = 3_000;
/** Column `st` of /proc/net/tcp. */
const listenState = '0A';

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
