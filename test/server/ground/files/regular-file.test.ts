/** What is no file is refused at once, wherever a person may name one: the read of a named pipe would wait for its writer. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadDeclarativeConfig } from '../../../../server/config/declarative.ts';
import { readRegularFile, readRegularFileSync } from '../../../../server/ground/files/regular-file.ts';
import { resolveSecret } from '../../../../server/secrets/secret-store.ts';
import { createAuthorities } from '../../../../server/transport/authorities.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-regular-'));
const at = (name: string) => join(folder, name);
let server: Server;

beforeAll(async () => {
  execFileSync('mkfifo', [at('pipe')]);
  symlinkSync(at('pipe'), at('link-to-pipe'));
  writeFileSync(at('file'), 'text');
  symlinkSync(at('file'), at('link-to-file'));
  server = createServer();
  await new Promise<void>((resolve) => server.listen(at('socket'), resolve));
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

describe.skipIf(process.platform === 'win32')('what is no file', () => {
  test.each([
    ['pipe', 'it is a named pipe, and not a file'],
    ['link-to-pipe', 'it is a named pipe, and not a file'],
    ['.', 'EISDIR'],
    ['/dev/random', 'it is a device, and not a file'],
    ['/dev/zero', 'it is a device, and not a file'],
  ])('%s is refused at once', async (name, reason) => {
    const path = name.startsWith('/') ? name : at(name);
    await expect(readRegularFile(path)).rejects.toThrow(reason);
    expect(() => readRegularFileSync(path)).toThrow(reason);
  });

  test('a socket cannot be read', async () => {
    await expect(readRegularFile(at('socket'))).rejects.toThrow('ENXIO');
  });

  test('is no configuration, no secret and no list of certificates, and the error names it', async () => {
    const path = at('pipe');
    await expect(loadDeclarativeConfig(path)).rejects.toThrow(`${path} cannot be used: it is a named pipe`);
    const sources = { name: 'x', store: { get: async () => undefined }, env: {} };
    await expect(resolveSecret(`file:${path}`, sources)).rejects.toThrow(`${path} cannot be read: it is a named pipe`);
    const authorities = createAuthorities(() => ({ system: false, files: [path] }));
    const [file] = (await authorities.view()).files;
    expect(file).toMatchObject({ path, problem: 'it is a named pipe, and not a file' });
  });
});

test('a file is read, also through a link', async () => {
  expect([await readRegularFile(at('file')), readRegularFileSync(at('link-to-file'))]).toEqual(['text', 'text']);
});
