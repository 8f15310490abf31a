/** The other gateways of the comparison: where they are found, and how each is started on its own port. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { clientKey } from './payloads.ts';

export const thirdPartyNames = ['nginx', 'portkey'] as const;
export type ThirdPartyName = (typeof thirdPartyNames)[number];

/** A newer server package breaks Portkey's streams: github.com/Portkey-AI/gateway/issues/1389. */
const portkeyManifest = JSON.stringify({
  private: true,
  dependencies: { '@portkey-ai/gateway': '1.15.2' },
  overrides: { '@hono/node-server': '1.13.8' },
});
const cacheFolder = join(import.meta.dirname, '../../node_modules/.cache/bench/portkey');
const installLimitMs = 180_000;

/**
 * Why a gateway cannot be compared on this machine; undefined if it can. Portkey is not a dependency of the project;
 * npm installs it into `folder` on first use.
 *
 * @param env whose `PATH` is searched for programs
 */
export function whyMissing(name: ThirdPartyName, env = process.env, folder = cacheFolder): string | undefined {
  if (name === 'nginx') return isOnPath('nginx', env) ? undefined : 'it is not on PATH';
  const manifest = join(folder, 'package.json');
  // npm writes this file last.
  const isInstalled = existsSync(join(folder, 'node_modules/.package-lock.json'));
  if (isInstalled && readFileSync(manifest, 'utf8') === portkeyManifest) return undefined;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(manifest, portkeyManifest);
  const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--fetch-retries', '0', '--loglevel', 'error'];
  const { status, stderr, error } = spawnSync(
    'npm',
    ['install', '--prefix', folder, ...options],
    // On Windows, npm is a script, which only a shell can run.
    { env, encoding: 'utf8', timeout: installLimitMs, shell: process.platform === 'win32' },
  );
  if (status === 0) return undefined;
  return `npm could not install it (${error?.message ?? stderr.trim().split('\n')[0]})`;
}

/** @param folder for its configuration and other files that it writes */
export function nginxCommand(folder: string, port: number, upstreamPort: number): string[] {
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, nginxConfig(folder, port, upstreamPort));
  return ['nginx', '-p', folder, '-c', file];
}

/** The arguments for Node. */
export function portkeyArguments(port: number): string[] {
  return [join(cacheFolder, 'node_modules/@portkey-ai/gateway/build/start-server.js'), `--port=${port}`, '--headless'];
}

/** Tells Portkey, which has no configuration file, which upstream to call. */
export function portkeyHeaders(upstreamPort: number): Readonly<Record<string, string>> {
  return { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `http://127.0.0.1:${upstreamPort}/v1` };
}

/**
 * One worker that checks one key, keeps its connections to the upstream and relays bytes at once. Buffering is also off
 * for whole answers and uploads, because nginx cannot tell them from a stream before the answer has begun.
 */
function nginxConfig(folder: string, port: number, upstreamPort: number): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (use) => `  ${use}_temp_path "${join(folder, use)}";`,
  );
  return `
daemon off;
worker_processes 1;
pid "${join(folder, 'nginx.pid')}";
error_log stderr crit;
events { worker_connections 4096; }
http {
  access_log off;
${temporary.join('\n')}
  client_max_body_size 64m;
  keepalive_requests 100000000;
  map_hash_bucket_size 128;
  map $http_authorization $isKnown { default 0; "Bearer ${clientKey}" 1; }
  upstream provider {
    server 127.0.0.1:${upstreamPort};
    keepalive 512;
    keepalive_requests 100000000;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      if ($isKnown = 0) { return 401; }
      proxy_pass http://provider;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Authorization "Bearer provider";
      proxy_buffering off;
      proxy_request_buffering off;
    }
  }
}
`;
}

function isOnPath(program: string, env: NodeJS.ProcessEnv): boolean {
  const folders = (env.PATH ?? '').split(delimiter).filter(Boolean);
  return folders.some((folder) => existsSync(join(folder, program)));
}
