import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

const script = `export const text = '${'long enough '.repeat(200)}';`;
let folder: string;
let gateway: TestGateway;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-pages-'));
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), '<!doctype html>');
  writeFileSync(join(folder, 'assets/a-123.js'), script);
  writeFileSync(join(folder, 'assets/a-123.js.br'), brotliCompressSync(script));
  writeFileSync(join(folder, 'assets/a-123.js.gz'), gzipSync(script));
  writeFileSync(join(folder, 'assets/b-123.js'), script);
  writeFileSync(join(folder, 'panel.html'), '<!doctype html><title>panel</title>');
  gateway = await startGateway({ ports: { windowFolder: folder } });
});
afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function get(path: string, accept: string) {
  const response = await fetch(`${gateway.origin}${path}`, { headers: { 'accept-encoding': accept } });
  const { status, headers } = response;
  return { status, headers, text: await response.text() };
}

test.each([
  ['gzip, deflate, br', 'br'],
  ['gzip', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
  ['identity', null],
])('a file that the build compressed is sent to a browser that accepts %s as %s', async (accept, encoding) => {
  const { headers, text } = await get('/assets/a-123.js', accept);
  expect(text).toBe(script);
  expect(headers.get('content-encoding')).toBe(encoding);
  expect(headers.get('content-type')).toMatch(/^text\/javascript/);
  expect(headers.get('vary')?.toLowerCase()).toContain('accept-encoding');
});

test('a file that is not compressed is sent as it is', async () => {
  const { headers, text } = await get('/assets/b-123.js', 'br');
  expect(text).toBe(script);
  expect(headers.get('content-encoding')).toBeNull();
});

test('the panel has an address of its own', async () => {
  const { status, text } = await get('/panel', 'br');
  expect([status, text]).toEqual([200, '<!doctype html><title>panel</title>']);
});

test('files with a hash in their names are kept by the browser, and the page is asked for each time', async () => {
  expect((await get('/assets/a-123.js', 'br')).headers.get('cache-control')).toContain('immutable');
  expect((await get('/', 'br')).headers.get('cache-control')).toBe('no-cache');
});

test('a file that is gone is answered by an error that can be read', async () => {
  rmSync(join(folder, 'assets/a-123.js.gz'));
  for (const path of ['/assets/a-123.js', '/assets/none-1.js']) {
    const { status, headers, text } = await get(path, 'gzip');
    expect(status).toBe(404);
    expect(headers.get('content-encoding')).toBeNull();
    expect(headers.get('cache-control')).not.toContain('immutable');
    expect(JSON.parse(text)).toHaveProperty('error');
  }
});

test('a folder that could not be read for the first page is read for the next', async () => {
  const later = join(folder, 'later');
  const other = await startGateway({ ports: { windowFolder: later } });
  expect((await fetch(`${other.origin}/`)).status).toBe(500);
  mkdirSync(later);
  writeFileSync(join(later, 'index.html'), '<!doctype html>');
  expect((await fetch(`${other.origin}/`)).status).toBe(200);
  await other.stop();
});
