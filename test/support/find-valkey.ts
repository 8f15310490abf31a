import { spawnSync } from 'node:child_process';

const programs = ['valkey-server', 'redis-server'];

/** The name of the server program; null if there is none. */
export function findValkey(): string | null {
  return programs.find((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0) ?? null;
}
