import { copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Bundle, buildBundle } from './build-bundle.ts';
import { runCli, serve, temporaryFolder } from './run-cli.ts';

// Whole programs are started here, many of them; on a busy machine that takes its time.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

let bundle: Bundle;
beforeAll(async () => {
  bundle = await buildBundle();
});
afterAll(() => bundle.remove());

test('runs from an empty folder, without any package beside it', async () => {
  const { program } = copyBundle();
  const { ready, output } = await serve(temporaryFolder(), [], { program, env: { SLUICE_SECRETS: 'auto' } });
  expect(output.stderr).toContain('keytar is not installed');
  expect(output.stderr).toContain('encrypted file');
  const client = new OpenAI({ baseURL: ready.baseUrl, apiKey: ready.key ?? '', maxRetries: 0 });
  const messages = [{ role: 'user' as const, content: 'hi' }];
  const stream = await client.chat.completions.create({ model: 'demo-chat', messages, stream: true });
  let text = '';
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
  expect(text).not.toBe('');
});

test('serves the window that was built beside it', async () => {
  const { program, folder } = copyBundle();
  mkdirSync(join(folder, 'window'));
  copyFileSync(join(import.meta.dirname, '../../../renderer/index.html'), join(folder, 'window/index.html'));
  const { ready } = await serve(temporaryFolder(), [], { program });
  const page = await fetch(ready.baseUrl.replace('/v1', '/'));
  expect(page.headers.get('content-type')).toContain('text/html');
});

test('imports nothing but Node’s own modules and itself', () => {
  const folder = dirname(bundle.program);
  const files = readdirSync(folder).filter((file) => file.endsWith('.js'));
  const imported = files.flatMap((file) => {
    const code = readFileSync(join(folder, file), 'utf8');
    return [...code.matchAll(/^(?:import|export) [^;]*?from "([^"]+)"|^import "([^"]+)"/gm)].map(
      ([, from, bare]) => from ?? bare ?? '',
    );
  });
  expect(imported).toContain('node:net');
  expect(imported.filter((name) => !name.startsWith('./') && !isBuiltin(name))).toEqual([]);
});

test('leaves a compile cache beside itself for the next start, and none elsewhere', async () => {
  const { program, folder } = copyBundle();
  const temporary = temporaryFolder();
  const { code } = await runCli(['--version'], { program, env: { TMPDIR: temporary } });
  expect(code).toBe(0);
  expect(readdirSync(folder)).toContain('compile-cache');
  expect(readdirSync(temporary)).toEqual([]);
});

/** Where nothing was built before. */
function copyBundle(): { program: string; folder: string } {
  const folder = temporaryFolder();
  const from = dirname(bundle.program);
  mkdirSync(join(folder, 'server'));
  for (const file of readdirSync(from)) copyFileSync(join(from, file), join(folder, 'server', file));
  return { program: join(folder, 'server/cli.js'), folder };
}
