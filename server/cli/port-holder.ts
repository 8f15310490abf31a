/**
 * Which process listens on a port, where the operating system tells: `/proc` on Linux, `lsof` on macOS, `netstat` on
 * Windows. Never fails: what cannot be found out is undefined (on Linux, the process of another user).
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
/** `st` of /proc/net/tcp. */
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

/** The inodes of the listening sockets on `port` in a table such as /proc/net/tcp. */
export function parseProcNetTcp(table: string, port: number): string[] {
  const wanted = port.toString(16).toUpperCase().padStart(4, '0');
  return table.split('\n').flatMap((line) => {
    const [, local, , state, , , , , , inode] = line.trim().split(/\s+/);
    return state === listenState && local?.endsWith(`:${wanted}`) && inode ? [inode] : [];
  });
}

/** Of `lsof -Fpc`: a line `pPID`, a line `cNAME`. */
export function parseLsof(output: string): PortHolder | undefined {
  const [, pid, name] = /^p(\d+)\nc(.*)$/m.exec(output) ?? [];
  return pid && name ? { pid: Number(pid), name } : undefined;
}

/** Of `netstat -ano -p TCP`. The word for "listening" is translated, so the foreign port 0 tells it. */
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
    if (!/^\d+$/.test(entry) || !(await holdsOne(entry, links))) continue;
    return { pid: Number(entry), name: await nameOf(entry) };
  }
  return undefined;
}

/** What Node calls its own thread is what the system shows for each program of Node: then that of the executable. */
async function nameOf(pid: string): Promise<string> {
  const name = (await readFile(`/proc/${pid}/comm`, 'utf8')).trim();
  return /^(node-)?MainThread$/.test(name) ? basename(await readlink(`/proc/${pid}/exe`)) : name;
}

async function holdsOne(pid: string, links: ReadonlySet<string>): Promise<boolean> {
  const folder = `/proc/${pid}/fd`;
  // Processes of others are closed to us, and any may end while we look.
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
