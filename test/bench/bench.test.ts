/** @suite long */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'sluice-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A stand-in for nginx: reads its configuration, and relays what arrives at the port in it. */
const nginxDouble = `#!${process.execPath}
const config = require('node:fs').readFileSync(process.argv.at(-1), 'utf8');
const port = (directive) => Number(new RegExp(directive + ' 127\\\\.0\\\\.0\\\\.1:(\\\\d+);').exec(config)[1]);
const net = require('node:net');
net.createServer((client) => {
  const upstream = net.connect(port('server'), '127.0.0.1');
  for (const [from, to] of [[client, upstream], [upstream, client]]) from.pipe(to).on('error', () => from.destroy());
}).listen(port('listen'), '127.0.0.1');
`;

test('the bench measures phases on each available and selected gateway, and prints their tables', async () => {
  const json = join(folder, 'figures.json');
  // On Windows, a script cannot stand in for a program.
  const hasNginx = process.platform !== 'win32';
  if (hasNginx) writeFileSync(join(folder, 'nginx'), nginxDouble, { mode: 0o755 });
  const unwanted = hasNginx ? 'portkey' : 'portkey,nginx';
  const run = ['test/bench/run.ts', '--quick', '--phases', 'latency,plain', '--without', unwanted];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...run, '--program', 'server/cli.ts', '--json', json],
    {
      cwd: root,
      env: { ...process.env, PATH: [folder, process.env.PATH].join(delimiter) },
    },
  );
  expect(stdout).toContain('added p50, µs');
  expect(stdout).toContain(`|  | direct | pipe | express |${hasNginx ? ' nginx |' : ''} sluice | sluice ÷ pipe |`);
  expect(stdout).toContain('Wrong or broken answers: none.');
  const { figures, errors } = JSON.parse(readFileSync(json, 'utf8'));
  expect(errors).toEqual({});
  for (const name of ['pipe', 'express', 'sluice'])
    expect(figures['latency.p50Us'][name]).toEqual([expect.any(Number)]);
  for (const name of ['pipe', 'express', 'sluice', ...(hasNginx ? ['nginx'] : [])])
    expect(figures['plain.short.perSecond'][name]).toEqual([expect.any(Number)]);
});
