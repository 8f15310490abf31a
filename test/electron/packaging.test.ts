/**
 * The program as electron-builder packs it, for real, around a stand-in for Electron's own files. Fuses are left out: they
 * are set in the binary, and the stand-in is none.
 */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, Platform } from 'electron-builder';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkout, ensureBuilt, readyOf, startProgram } from '../support/program.ts';
import { openDesktop } from './open-desktop.ts';

const budgetBytes = 12 * 1024 * 1024;
const asar: { listPackage(path: string): string[]; extractAll(path: string, to: string): void } = createRequire(
  import.meta.url,
)('@electron/asar');

let folder: string;
let archive: string;
/** The archive's content, with no node_modules above it. */
let unpacked: string;

beforeAll(async () => {
  await ensureBuilt();
  folder = mkdtempSync(join(tmpdir(), 'sluice-package-'));
  const config = JSON.parse(readFileSync(join(checkout, 'build/electron-builder.json'), 'utf8'));
  await build({
    projectDir: checkout,
    targets: Platform.LINUX.createTarget('dir'),
    publish: 'never',
    config: {
      ...config,
      electronFuses: null,
      electronDist: makeDistribution(join(folder, 'electron')),
      directories: { ...config.directories, output: join(folder, 'out') },
    },
  });
  archive = join(folder, 'out/linux-unpacked/resources/app.asar');
  unpacked = join(folder, 'app');
  asar.extractAll(archive, unpacked);
}, 180_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function makeDistribution(path: string): string {
  mkdirSync(join(path, 'resources'), { recursive: true });
  writeFileSync(join(path, 'electron'), '#!/bin/sh\n');
  chmodSync(join(path, 'electron'), 0o755);
  writeFileSync(join(path, 'version'), '45.0.0');
  return path;
}

describe('the packed program', () => {
  it('holds what it needs, and nothing else', () => {
    const files = asar.listPackage(archive).map((path) => path.replaceAll('\\', '/'));
    expect(files).toEqual(
      expect.arrayContaining(['/package.json', '/dist/electron/main.js', '/dist/electron/preload.cjs']),
    );
    expect(files).toEqual(expect.arrayContaining(['/dist/electron/keytar-child.js', '/dist/window/index.html']));
    const wanted =
      /^\/(package\.json|LICENSE|dist|dist\/(electron|window|server)(\/.*)?|node_modules|node_modules\/keytar(\/(package\.json|LICENSE\.md|lib|lib\/keytar\.js|build|build\/Release|build\/Release\/keytar\.node))?)$/;
    expect(files.filter((path) => !wanted.test(path))).toEqual([]);
    expect(files.filter((path) => /\.(map|ts|tsx)$|\.test\./.test(path))).toEqual([]);
    expect(statSync(archive).size).toBeLessThan(budgetBytes);
  });

  it('has its entry where Electron looks for it', () => {
    const manifest = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8'));
    expect(manifest).toMatchObject({ name: 'sluice', main: 'dist/electron/main.js', type: 'module' });
    expect(manifest).not.toHaveProperty('devDependencies');
  });

  it('starts as a desktop, window and all', async () => {
    const desktop = await openDesktop({ main: join(unpacked, 'dist/electron/main.js') });
    await (await desktop.page()).getByRole('status').getByText('Serving').waitFor();
    expect((await (await desktop.client()).models.list()).data.map(({ id }) => id)).toContain('demo-chat');
    await desktop.close();
  });

  it('has an engine that serves on plain Node', async () => {
    const program = startProgram(['serve', '--json', '--port', '0', '--data-dir', join(folder, 'data')], {
      program: join(unpacked, 'dist/server/cli.js'),
    });
    const { baseUrl, key = '' } = await readyOf(program);
    const client = new OpenAI({ baseURL: baseUrl, apiKey: key, maxRetries: 0 });
    const reply = await client.chat.completions.create({
      model: 'demo-chat',
      messages: [{ role: 'user', content: 'Hello' }],
    });
    expect(reply.object).toBe('chat.completion');
    program.child.kill('SIGTERM');
    expect(await program.ended).toBe(0);
  });
});
