import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, dirname, join } from 'node:path';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { builtProgram } from '../../support/program.ts';
import { endProgramsAfterEach, runCli, serve, temporaryFolder } from './run-cli.ts';

endProgramsAfterEach();

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
  const imported = new Set<string>();
  const visit = (name: string) => {
    if (imported.has(name)) return;
    imported.add(name);
    if (name.startsWith('./')) importsOf(join(dirname(builtProgram), name)).forEach(visit);
  };
  visit(`./${basename(builtProgram)}`);
  expect([...imported]).toContain('node:net');
  expect([...imported].filter((name) => !name.startsWith('./') && !isBuiltin(name))).toEqual([]);
});

test('leaves a compile cache beside itself for the next start, and none elsewhere', async () => {
  const { program, folder } = copyBundle();
  const temporary = temporaryFolder();
  const { code } = await runCli(['--version'], { program, env: { TMPDIR: temporary } });
  expect(code).toBe(0);
  expect(readdirSync(folder)).toContain('compile-cache');
  expect(readdirSync(temporary)).toEqual([]);
});

test('starts from few files, since each that is looked for costs time', () => {
  const folder = dirname(builtProgram);
  const started = new Set(['program', 'serve'].map((name) => chunkOf(folder, name)));
  for (const file of started) for (const imported of importsAtOnce(file)) started.add(join(folder, imported));
  // The engine is in a file shared with the desktop, and some of it in files shared with the thread of translations.
  expect(started.size).toBeGreaterThan(2);
  expect(started.size).toBeLessThan(30);
});

function chunkOf(folder: string, name: string): string {
  const chunk = readdirSync(folder).find((file) => new RegExp(`^${name}-[\\w-]{8}\\.js$`).test(file));
  if (chunk === undefined) throw new Error(`there is no file of ${name}`);
  return join(folder, chunk);
}

function importsAtOnce(file: string): string[] {
  const statements = /^(?:import|export) [^;]*?from "(\.[^"]+)"|^import "(\.[^"]+)"/gm;
  return [...readFileSync(file, 'utf8').matchAll(statements)].map(([, from, bare]) => from ?? bare ?? '');
}

/** Static and dynamic imports. */
function importsOf(file: string): string[] {
  const statements = /^(?:import|export) [^;]*?from "([^"]+)"|^import "([^"]+)"|\bawait import\("([^"]+)"\)/gm;
  return [...readFileSync(file, 'utf8').matchAll(statements)].map(([, from, bare, lazy]) => from ?? bare ?? lazy ?? '');
}

/** In a folder without earlier builds. */
function copyBundle(): { program: string; folder: string } {
  const folder = temporaryFolder();
  cpSync(dirname(builtProgram), join(folder, 'program'), { recursive: true });
  return { program: join(folder, 'program/cli.js'), folder };
}
