/** A separate PostgreSQL server for tests: Debian's programs, on a Unix socket in a temporary folder. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { findPostgres } from './find-servers.ts';
import { onlyIf } from './only-if.ts';
import { endProcess, untilServing } from './program.ts';
import { fillDisk, holdSmallDisks, makeRoom, type SmallDisks } from './small-disk.ts';

interface PostgresServer {
  /** Creates an empty database, and returns its URL. */
  createDatabase(): Promise<string>;
  /** Runs a statement as the owner of all databases. */
  query(sql: string): Promise<Record<string, unknown>[]>;
  /** Ends the server like a crash; `start` restores it with its databases. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** The server stays connected but answers nothing until `go`. */
  pause(): Promise<void>;
  go(): void;
  /** Fills the disk for `what`. Only with `onSmallDisks`. */
  fillDisk(what: 'tables' | 'log'): void;
  /** Frees the disk again, and starts the server if it has exited. */
  makeRoom(what: 'tables' | 'log'): Promise<void>;
  /** Ends the server, and removes its data. */
  stop(): Promise<void>;
}

const user = 'sluice';
/** Only part of the socket's name. */
const port = 5432;

/** For `runIf`. With CI=true, a missing server is a failure. */
export function hasPostgres(): boolean {
  return onlyIf(
    findPostgres() !== null || process.env.CI === 'true',
    'there is no PostgreSQL server (Debian: postgresql)',
  );
}

interface PostgresOptions {
  /** Puts the tables on their own disk, and the write-ahead log (`pg_wal`) on another. */
  onSmallDisks?: boolean;
}

/** A server for all tests of a `describe`. Registers the hooks. */
export function startPostgresInSuite(options: PostgresOptions = {}): Omit<PostgresServer, 'stop'> {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres(options);
  });
  afterAll(() => server.stop());
  return {
    createDatabase: () => server.createDatabase(),
    query: (sql) => server.query(sql),
    kill: () => server.kill(),
    start: () => server.start(),
    pause: () => server.pause(),
    go: () => server.go(),
    fillDisk: (what) => server.fillDisk(what),
    makeRoom: (what) => server.makeRoom(what),
  };
}

async function startPostgres({ onSmallDisks = false }: PostgresOptions): Promise<PostgresServer> {
  const programs = findPostgres();
  if (programs === null) throw new Error('There is no PostgreSQL server. On Debian: apt-get install postgresql.');
  const folder = mkdtempSync(join(tmpdir(), 'sluice-pg-'));
  const owner = ownerOfServers();
  if (owner) chownSync(folder, owner.uid, owner.gid);
  const disks = onSmallDisks ? await disksIn(folder) : null;
  const place = { programs, folder, owner, enter: disks?.enter ?? [] };
  copyData(place, (path) => disks?.seen(path) ?? path);
  let running = await run(place);
  const urlOf = (database: string) => `postgres://${user}@${encodeURIComponent(folder)}:${port}/${database}`;
  let made = 0;
  const query = async (sql: string) => {
    const client = new pg.Client(urlOf('postgres'));
    await client.connect();
    const { rows } = await client.query<Record<string, unknown>>(sql);
    await client.end();
    return rows;
  };
  let paused: number[] = [];
  const go = () => {
    for (const pid of paused.splice(0)) process.kill(pid, 'SIGCONT');
  };
  return {
    async createDatabase() {
      const name = `test_${++made}`;
      await query(`CREATE DATABASE ${name}`);
      return urlOf(name);
    },
    query,
    kill: () => endProcess(running, 'SIGQUIT'),
    async start() {
      running = await run(place);
    },
    async pause() {
      // Each connection has its own process.
      const rows = await query('SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()');
      const pid = running.pid;
      if (pid === undefined) throw new Error('PostgreSQL did not start');
      // A process that has ended can be signalled until the server, stopped first and continued last, reaps it.
      process.kill(pid, 'SIGSTOP');
      paused = [...rows.map((row) => Number(row.pid)).filter(stopProcess), pid];
    },
    go,
    fillDisk(what) {
      if (disks) fillDisk(disks.seen(join(folder, diskOf[what])));
    },
    async makeRoom(what) {
      if (disks) makeRoom(disks.seen(join(folder, diskOf[what])));
      if (running.exitCode !== null) running = await run(place);
    },
    async stop() {
      go();
      await endProcess(running, 'SIGINT');
      await disks?.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** With the smallest segment size, because each server copies a segment. */
const initialise = ['-U', user, '--auth=trust', '--no-sync', '--encoding=UTF8', '--locale=C', '--wal-segsize=1'];
const cache = join(import.meta.dirname, '../../node_modules/.cache/sluice-tests');

/** The data of a server without databases. It is created once and cached, because creating it takes most of a start. */
function emptyData(programs: string, owner: Owner | undefined): string {
  const kept = join(cache, `postgres-${hash('sha256', [programs, ...initialise].join()).slice(0, 16)}`);
  if (existsSync(kept)) return kept;
  const folder = mkdtempSync(join(tmpdir(), 'sluice-pg-'));
  if (owner) chownSync(folder, owner.uid, owner.gid);
  const data = join(folder, 'data');
  execFileSync(join(programs, 'initdb'), ['-D', data, ...initialise], { ...owner, cwd: folder, stdio: 'ignore' });
  mkdirSync(cache, { recursive: true });
  // The folder gets its final name when it is complete. If several workers create it at once, one of them wins.
  const copy = mkdtempSync(`${kept}-`);
  execFileSync('cp', ['-a', `${data}/.`, copy]);
  rmSync(folder, { recursive: true, force: true });
  try {
    renameSync(copy, kept);
  } catch (error) {
    rmSync(copy, { recursive: true, force: true });
    if (!existsSync(kept)) throw error;
  }
  return kept;
}

/** Where a server runs. */
interface Place {
  programs: string;
  folder: string;
  owner: Owner | undefined;
  /** Command prefix for programs that must see the small disks. */
  enter: readonly string[];
}

const diskOf = { tables: 'data', log: 'log' };

/** Large enough for the server and the load of a test. */
async function disksIn(folder: string): Promise<SmallDisks> {
  const [data, log] = [join(folder, diskOf.tables), join(folder, diskOf.log)];
  for (const mountPoint of [data, log]) mkdirSync(mountPoint);
  return holdSmallDisks({ [data]: 256, [log]: 64 });
}

/** `seen` converts a path to the one under which it is visible from here. */
function copyData({ programs, folder, owner, enter }: Place, seen: (path: string) => string): void {
  const data = seen(join(folder, diskOf.tables));
  execFileSync('cp', ['-a', `${emptyData(programs, owner)}/.`, data]);
  if (enter.length === 0) return;
  execFileSync('cp', ['-a', `${data}/pg_wal/.`, seen(join(folder, diskOf.log))]);
  rmSync(join(data, 'pg_wal'), { recursive: true });
  symlinkSync(join(folder, diskOf.log), join(data, 'pg_wal'));
}

/** Stops a process. Returns false if it has ended and has been reaped. */
function stopProcess(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGSTOP');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
    throw error;
  }
}

async function run({ programs, folder, owner, enter }: Place): Promise<ChildProcess> {
  const settings = {
    listen_addresses: '',
    unix_socket_directories: folder,
    fsync: 'off',
    full_page_writes: 'off',
    shared_buffers: '16MB',
    max_connections: '60',
  };
  const parameters = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  // Only root may enter the namespace of the disks, so privileges are dropped after that.
  const asOwner = owner ? ['setpriv', `--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups'] : [];
  const command = [...enter, ...asOwner, join(programs, 'postgres'), '-D', join(folder, 'data'), '-p', String(port)];
  const server = spawn(command[0] ?? '', [...command.slice(1), ...parameters], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await untilServing('PostgreSQL', server.stderr, 'ready to accept connections');
  return server;
}

interface Owner {
  uid: number;
  gid: number;
}

/** PostgreSQL refuses to run as root. */
function ownerOfServers(): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (what: '-u' | '-g') => Number(execFileSync('id', [what, 'postgres'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}
