import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { onlyIf } from '../support/only-if.ts';
import { nginxCommand, whyMissing } from './third-party.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A stand-in for npm: records its calls, and creates the files that npm leaves behind. */
const npmDouble = `#!${process.execPath}
const { appendFileSync, mkdirSync, readFileSync, writeFileSync } = require('node:fs');
const folder = process.argv[process.argv.indexOf('--prefix') + 1];
appendFileSync(__dirname + '/calls.txt', readFileSync(folder + '/package.json', 'utf8') + '\\n');
mkdirSync(folder + '/node_modules');
writeFileSync(folder + '/node_modules/.package-lock.json', '{}');
`;

test('a gateway that is not available is left out with a reason', () => {
  const env = { ...process.env, PATH: join(folder, 'nothing') };
  expect(whyMissing('nginx', env)).toBe('it is not on PATH');
  expect(whyMissing('portkey', env, join(folder, 'none'))).toMatch(/^npm could not install it \(.+\)$/);
});

test.runIf(onlyIf(process.platform !== 'win32', 'npm is stood in for by a script'))(
  'Portkey is installed in its exact version on first use, and again if another version is required',
  () => {
    const bin = join(folder, 'bin');
    const cache = join(folder, 'cache');
    mkdirSync(bin);
    writeFileSync(join(bin, 'npm'), npmDouble, { mode: 0o755 });
    const find = () => whyMissing('portkey', { ...process.env, PATH: bin }, cache);
    const calls = () => readFileSync(join(bin, 'calls.txt'), 'utf8').trim().split('\n');
    expect([find(), find()]).toEqual([undefined, undefined]);
    expect(calls()).toEqual([expect.stringMatching(/"@portkey-ai\/gateway":"\d+\.\d+\.\d+"/)]);
    writeFileSync(join(cache, 'package.json'), '{"dependencies":{"@portkey-ai/gateway":"1.0.0"}}');
    expect(find()).toBeUndefined();
    expect(calls()).toHaveLength(2);
    expect(calls()[1]).toBe(calls()[0]);
  },
);

test('nginx gets a configuration in its own folder', () => {
  const own = mkdtempSync(join(folder, 'nginx-'));
  const file = join(own, 'nginx.conf');
  expect(nginxCommand(own, 4001, 4002)).toEqual(['nginx', '-p', own, '-c', file]);
  const config = readFileSync(file, 'utf8');
  expect(config).toContain('listen 127.0.0.1:4001;');
  expect(config).toContain('server 127.0.0.1:4002;');
  for (const [, path = ''] of config.matchAll(/(?:_temp_path|pid) "(.*)";/g)) expect(path.startsWith(own)).toBe(true);
});
