/** A real nginx on loopback in front of gateways, with the configuration from `build/deploy`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import { onlyIf } from './only-if.ts';
import { freePort } from './ports.ts';

export interface Nginx {
  origin: string;
  stop(): Promise<void>;
}

const program = '/usr/sbin/nginx';
const delivered = join(import.meta.dirname, '../../build/deploy/nginx.conf');

export const hasNginxProgram = () => existsSync(program);

/** For `runIf`. With CI=true, a missing nginx is a failure. */
export function hasNginx(): boolean {
  return onlyIf(hasNginxProgram() || process.env.CI === 'true', 'there is no nginx (Debian: nginx)');
}

interface TlsListener {
  port: number;
  /** The folder of `tls.crt` and `tls.key`. */
  folder: string;
}

/** Balances between these `host:port` pairs; without `tls`, on a free port and without TLS. */
export async function startNginx(replicas: readonly string[], tls?: TlsListener): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-nginx-'));
  const port = tls?.port ?? (await freePort());
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, wholeConfiguration(folder, balancing(replicas, port, tls)));
  const nginx = spawn(program, ['-c', file, '-e', join(folder, 'error.log')], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  nginx.stderr.on('data', (piece) => {
    said += piece;
  });
  const ended = once(nginx, 'exit');
  await eventually(() => {
    if (nginx.exitCode !== null) throw new Error(`nginx did not start: ${said}`);
    return listens(port);
  });
  return {
    origin: tls ? `https://localhost:${port}` : `http://127.0.0.1:${port}`,
    async stop() {
      nginx.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Throws if the file lacks the lines to be replaced. */
function balancing(replicas: readonly string[], port: number, tls?: TlsListener): string {
  const listening = tls
    ? ([
        /listen 443 ssl;([\s\S]*?)\/etc\/nginx\/tls([\s\S]*?)\/etc\/nginx\/tls/,
        `listen 127.0.0.1:${port} ssl;$1${tls.folder}$2${tls.folder}`,
      ] as const)
    : ([/listen 443 ssl;\n.*\n.*ssl_certificate_key.*\n/, `listen 127.0.0.1:${port};\n`] as const);
  const servers = replicas.map((replica) => `  server ${replica} max_fails=1 fail_timeout=2s;\n`);
  return [[/(?: {2}server sluice-\d:4810 .*\n)+/, servers.join('')] as const, listening].reduce(
    (text, [pattern, replacement]) => {
      if (!pattern.test(text)) throw new Error(`${delivered} has nothing like ${pattern}`);
      return text.replace(pattern, replacement);
    },
    readFileSync(delivered, 'utf8'),
  );
}

function wholeConfiguration(folder: string, server: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (of) => `${of}_temp_path ${folder}/${of};`,
  );
  return `daemon off; master_process off; pid ${folder}/nginx.pid;
    events {} http { access_log off; ${temporary.join(' ')}\n${server}}`;
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
