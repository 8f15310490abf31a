/** A hundred clients request endless streams and read nothing: the unread data stays at the upstream. */
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net, { type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { hashOf, testKey } from '../../support/gateway.ts';
import { onlyIf } from '../../support/only-if.ts';
import { checkout, type RunningProgram, readyOf, startProgram } from '../../support/program.ts';
import { temporaryFolder } from '../store/sqlite/records.ts';

/**
 * The kernel holds up to 10 MB for each client. A thousand clients used all the memory that Linux allows for TCP on a
 * machine with 24 GB (`net.ipv4.tcp_mem`), and the connections of all other tests stalled during that time.
 */
const clients = 100;
/** Memory allowed for each: two sockets, the waiting chunks, and what malloc does not return. The stream never ends. */
const allowedBytesEach = 1_280 * 1024;
/** About 900 MB pass through before everything is full, and leave fragments that malloc keeps. */
const allowedBytes = clients * allowedBytesEach + 200 * 1024 * 1024;
const collector = join(checkout, 'test/support/collect-on-signal.ts');
const folder = temporaryFolder();
const sockets: Socket[] = [];
let sentBytes = 0;
/** Those of the upstream's answers of which nothing is taken. */
const full = new Set<http.ServerResponse>();
const piece = Buffer.from(`data: {"choices":[{"delta":{"content":"${'x'.repeat(16_000)}"}}]}\n\n`);

/** Sends as much as is read. */
const upstream = http.createServer((request, response) => {
  request.resume();
  response.on('error', () => {});
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = () => {
    while (!response.destroyed) {
      sentBytes += piece.length;
      if (!response.write(piece)) return void full.add(response);
    }
  };
  response.on('drain', () => {
    full.delete(response);
    send();
  });
  send();
});
let program: RunningProgram;
let port: number;

beforeAll(async () => {
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const config = {
    version: 1,
    providers: [
      { id: 'main', baseUrl: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`, models: ['m'] },
    ],
    groups: [{ id: 'default' }],
    keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey) }],
    // One group gets all places but a tenth.
    settings: { admission: { running: 2_000 } },
  };
  const file = join(folder, 'sluice.json');
  writeFileSync(file, JSON.stringify(config));
  program = startProgram(['serve', '--config', file, '--port', '0', '--json', '--data-dir', join(folder, 'data')], {
    program: join(checkout, 'server/cli.ts'),
    env: { NODE_OPTIONS: `--expose-gc --import=${pathToFileURL(collector).href}` },
  });
  port = Number(new URL((await readyOf(program)).baseUrl).port);
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  program.child.kill('SIGKILL');
  await program.ended;
  upstream.closeAllConnections();
  upstream.close();
  rmSync(folder, { recursive: true, force: true });
});

function rssBytes(): number {
  const status = readFileSync(`/proc/${program.child.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

const body = '{"model":"m","stream":true}';
const question =
  `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${testKey}\r\n` +
  `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

test.runIf(onlyIf(process.platform === 'linux', 'memory is read from /proc'))(
  'memory stays bounded, and others are served',
  async () => {
    const before = rssBytes();
    for (let index = 0; index < clients; index++) {
      const socket = net.connect({ port, host: '127.0.0.1' });
      socket.on('error', () => {});
      socket.pause();
      socket.write(question);
      sockets.push(socket);
    }
    // Nothing more is read from the upstream, because all buffers in between are full.
    let last = -1;
    let quietLooks = 0;
    await expect
      .poll(
        () => {
          quietLooks = full.size === clients && sentBytes === last ? quietLooks + 1 : 0;
          last = sentBytes;
          return quietLooks;
        },
        { timeout: 100_000, interval: 250 },
      )
      .toBeGreaterThan(8);
    // When garbage is collected by itself depends on how busy the machine is.
    await expect
      .poll(
        () => {
          program.child.kill('SIGUSR2');
          return rssBytes() - before;
        },
        { timeout: 60_000, interval: 250 },
      )
      .toBeLessThan(allowedBytes);
    const grownBytes = rssBytes() - before;
    process.stdout.write(
      `${clients} clients that read nothing: ${Math.round(grownBytes / 1024 / clients)} kB each, ${Math.round(sentBytes / 1024 / clients)} kB taken from the upstream for each\n`,
    );
    const models = await eventually(async () => {
      const reply = await fetch(`http://127.0.0.1:${port}/v1/models`, {
        headers: { authorization: `Bearer ${testKey}` },
      });
      return reply.ok ? reply.json() : null;
    });
    expect(models).toMatchObject({ object: 'list' });
  },
);
