/**
 * A Sluice whose connections use up all file descriptors keeps the lock on its data folder.
 *
 * @suite long
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { begun } from '../support/eventually.ts';
import { hashOf, testKey } from '../support/gateway.ts';
import { onlyIf } from '../support/only-if.ts';
import { builtProgram, ensureBuilt, plainEnvironment, readyOf, startProgram } from '../support/program.ts';
import { eventStream, startUpstream } from '../support/upstream.ts';

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

const chatBody = JSON.stringify({ model: 'gpt-x', stream: true, messages: [{ role: 'user', content: 'Hi' }] });

/** Streams a word each second; without an end until it is told. */
async function startTalkingUpstream() {
  const open = new Set<ServerResponse>();
  const word = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'word ' }, finish_reason: null }] })}\n\n`;
  const last = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`;
  const upstream = await startUpstream((_request, response) => {
    eventStream(response);
    response.write(word);
    open.add(response);
    response.on('close', () => open.delete(response));
  });
  const talking = setInterval(() => {
    for (const response of open) response.write(word);
  }, 1_000);
  return {
    upstream,
    finish() {
      for (const response of open) response.end(last);
    },
    async stop() {
      clearInterval(talking);
      await upstream.stop();
    },
  };
}

async function serveWithin(descriptors: number, baseUrl: string) {
  const config = {
    version: 1,
    providers: [{ id: 'main', baseUrl, models: ['*'] }],
    groups: [{ id: 'default' }],
    keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey) }],
  };
  const file = join(dataDir, 'sluice.json');
  writeFileSync(file, JSON.stringify(config));
  const parameters = ['serve', '--json', '--port', '0', '--data-dir', join(dataDir, 'data'), '--config', file];
  const within = ['sh', '-c', `ulimit -n ${descriptors} && exec "$0" "$@"`];
  const program = startProgram(parameters, { within });
  return { program, ready: await readyOf(program) };
}

interface Reply {
  status: number;
  retryAfter: string | null;
  body: string;
}

test.runIf(onlyIf(process.platform === 'linux', 'descriptors are counted in /proc')).each([
  { count: 130, everyMs: 0 },
  // More clients at the same moment than the process has descriptors for could not even be connected.
  { count: 400, everyMs: 5 },
])(
  'a Sluice with 256 descriptors survives $count streams of more than ten seconds: those it cannot serve get 503',
  { timeout: 120_000 },
  async ({ count, everyMs }) => {
    const talking = await startTalkingUpstream();
    const { program, ready } = await serveWithin(256, talking.upstream.baseUrl);
    const headers = { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' };
    const ask = async (): Promise<Reply> => {
      const response = await fetch(`${ready.baseUrl}/chat/completions`, { method: 'POST', headers, body: chatBody });
      return {
        status: response.status,
        retryAfter: response.headers.get('retry-after'),
        body: await response.text(),
      };
    };
    const query = async (type: string) => {
      const token = readFileSync(join(dataDir, 'data/admin.token'), 'utf8').trim();
      const response = await fetch(`${new URL(ready.baseUrl).origin}/control/query`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ type }),
      });
      return ((await response.json()) as { result: { health: object }[] }).result;
    };
    try {
      const asked: Promise<Reply>[] = [];
      for (let number = 0; number < count; number++) {
        asked.push(begun(ask()));
        if (everyMs > 0) await sleep(everyMs);
      }
      // Longer than each interval of the program that needs descriptors.
      await sleep(12_000);
      expect(program.child.exitCode).toBeNull();
      talking.finish();
      const replies = await Promise.all(asked);
      const served = replies.filter(({ status }) => status === 200);
      // Of those that come at the same moment, some still hold descriptors that others would need.
      expect(served.length).toBeGreaterThan(64);
      expect(served.length).toBeLessThanOrEqual((256 - 64) / 2);
      for (const { body } of served) expect(body).toContain('[DONE]');
      for (const { status, retryAfter, body } of replies.filter((each) => each.status !== 200)) {
        expect([status, retryAfter]).toEqual([503, '2']);
        expect(JSON.parse(body).error).toMatchObject({ code: 'overloaded', type: 'server_error' });
      }
      expect((await query('providers'))[0]?.health).toMatchObject({ state: 'ok' });
      const answered = talking.upstream.seen.length;
      const next = begun(ask());
      await expect.poll(() => talking.upstream.seen.length).toBe(answered + 1);
      talking.finish();
      expect((await next).status).toBe(200);
    } finally {
      program.child.kill('SIGKILL');
      await program.ended;
      await talking.stop();
    }
  },
);

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
