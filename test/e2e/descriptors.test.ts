/** A Sluice whose connections use up all file descriptors keeps the lock on its data folder. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { onlyIf } from '../support/only-if.ts';
import { plainEnvironment } from '../support/plain-environment.ts';
import { builtProgram, ensureBuilt, readyOf, startProgram } from '../support/program.ts';

let dataDir: string;
const connections: Socket[] = [];
beforeEach(async () => {
  await ensureBuilt();
  dataDir = mkdtempSync(join(tmpdir(), 'sluice-descriptors-'));
});
afterEach(() => {
  for (const connection of connections.splice(0)) connection.destroy();
  rmSync(dataDir, { recursive: true, force: true });
});

const serve = () => startProgram(['serve', '--json', '--port', '0', '--data-dir', dataDir]);

/** Resolves once the connection was accepted, even if it is closed at once. */
async function occupy(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  connections.push(socket);
  socket.on('error', () => {});
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
}

test.runIf(onlyIf(process.platform === 'linux', 'descriptors are counted in /proc'))(
  'a Sluice without free descriptors keeps its folder: a second start is refused',
  async () => {
    const limited = spawn(
      'sh',
      [
        '-c',
        'ulimit -n 64 && exec "$0" "$@"',
        process.execPath,
        builtProgram,
        'serve',
        '--json',
        '--port',
        '0',
        '--data-dir',
        dataDir,
      ],
      { env: { ...plainEnvironment, SLUICE_SECRETS: 'file' }, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    try {
      const [line] = await once(limited.stdout, 'data');
      const { baseUrl } = JSON.parse(String(line));
      for (let count = 0; count < 150; count++) await occupy(Number(new URL(baseUrl).port));
      const lock = readFileSync(join(dataDir, 'instance.json'), 'utf8');
      for (let attempt = 0; attempt < 3; attempt++) {
        const second = serve();
        expect([await second.ended, second.output.stderr]).toEqual([
          3,
          expect.stringContaining(`Sluice is already running on the data folder ${dataDir}: process ${limited.pid}`),
        ]);
      }
      expect(readFileSync(join(dataDir, 'instance.json'), 'utf8')).toBe(lock);
    } finally {
      limited.kill('SIGKILL');
      await once(limited, 'exit');
    }
    const next = serve();
    await readyOf(next);
    next.child.kill('SIGKILL');
    await next.ended;
  },
);
