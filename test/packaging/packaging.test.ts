/**
 * Packs the program with the real electron-builder, around a stand-in for Electron's own files.
 *
 * @suite long
 */
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageApp } from '../../build/package-app.ts';
import { expectPng } from '../e2e/open-window.ts';
import { openDesktop } from '../electron/open-desktop.ts';
import { hasChromium } from '../support/chromium.ts';
import { checkout, ensureBuilt, readyOf, startProgram } from '../support/program.ts';

/** Calls each of the thirteen routes once, with the official client, at the built-in demo. */

/** Rejects at the first wrong answer; returns the routes that answered. */
async function askAllRoutes(baseUrl: string, key: string): Promise<string[]> {
  const client = new OpenAI({ baseURL: baseUrl, apiKey: key, maxRetries: 0 });
  const groups = [askForText, askForImages, askForSound, askForVideos];
  const answered: string[] = [];
  for (const ask of groups) answered.push(...(await ask(client)));
  return answered;
}

async function askForText(client: OpenAI): Promise<string[]> {
  const { data } = await client.models.list();
  expect(data.map(({ id }) => id)).toContain('demo-chat');
  const messages = [{ role: 'user' as const, content: 'Hello' }];
  const chat = await client.chat.completions.create({ model: 'demo-chat', messages });
  expect(chat.choices[0]?.message.content).not.toBe('');
  const response = await client.responses.create({ model: 'demo-chat', input: 'Hello' });
  expect(response.output_text).not.toBe('');
  const embeddings = await client.embeddings.create({ model: 'demo-embedding', input: 'Hello' });
  expect(embeddings.data[0]?.embedding.length).toBeGreaterThan(0);
  return ['models', 'chat/completions', 'responses', 'embeddings'];
}

async function askForImages(client: OpenAI): Promise<string[]> {
  const request = { model: 'demo-image', prompt: 'A hill', size: '256x256' as const };
  const drawn = pngOf(await client.images.generate(request));
  expectPng(drawn, 256);
  const image = await toFile(drawn, 'hill.png', { type: 'image/png' });
  expectPng(pngOf(await client.images.edit({ ...request, image })), 256);
  return ['images/generations', 'images/edits'];
}

function pngOf({ data }: OpenAI.ImagesResponse): Buffer {
  return Buffer.from(data?.[0]?.b64_json ?? '', 'base64');
}

async function askForSound(client: OpenAI): Promise<string[]> {
  const speech = { model: 'demo-speech', voice: 'alloy', input: 'Good morning', response_format: 'wav' } as const;
  const wav = await (await client.audio.speech.create(speech)).arrayBuffer();
  const listen = async () => ({ model: 'demo-transcribe', file: await toFile(wav, 'speech.wav') });
  expect((await client.audio.transcriptions.create(await listen())).text).not.toBe('');
  expect((await client.audio.translations.create(await listen())).text).not.toBe('');
  return ['audio/speech', 'audio/transcriptions', 'audio/translations'];
}

async function askForVideos(client: OpenAI): Promise<string[]> {
  const { id } = await client.videos.create({ model: 'demo-video', prompt: 'A ball', seconds: '4' });
  await expect.poll(async () => (await client.videos.retrieve(id)).status, { timeout: 15_000 }).toBe('completed');
  const film = Buffer.from(await (await client.videos.downloadContent(id)).arrayBuffer());
  expect(film.toString('latin1', 4, 8)).toBe('ftyp');
  expect((await client.videos.remix(id, { prompt: 'Rain' })).remixed_from_video_id).toBe(id);
  return ['videos', 'videos/:id', 'videos/:id/content', 'videos/:id/remix'];
}

/** 13.0 MB as of writing, of which the notices have 0.6 MB and the typefaces 0.1 MB. An empty Electron application takes some 100 MB, packed. */
const budgetBytes = 13_500_000;
const keytarBinary = 'node_modules/keytar/build/Release/keytar.node';
/** Of this system: `node_modules/@napi-rs/keyring-linux-x64-gnu/keyring.linux-x64-gnu.node`. */
const keyringBinaries = globSync('node_modules/@napi-rs/keyring-*/*.node', { cwd: checkout });
const nativeModules = [keytarBinary, ...keyringBinaries];
const asar: {
  listPackage(path: string): string[];
  statFile(path: string, file: string): { unpacked?: boolean };
  extractAll(path: string, to: string): void;
} = createRequire(import.meta.url)('@electron/asar');

let folder: string;
let resources: string;
let archive: string;
/** The extracted archive, without its node_modules and outside any other. */
let extracted: string;

beforeAll(async () => {
  await ensureBuilt();
  folder = mkdtempSync(join(tmpdir(), 'sluice-package-'));
  await packageApp({
    systems: ['linux'],
    isFolderOnly: true,
    outputFolder: join(folder, 'out'),
    updateUrl: 'https://updates.example/sluice',
    homepage: 'https://sluice.example',
    presetFile: writePreset('team.json', { settings: { ledger: { retentionDays: 30 } }, locked: ['settings'] }),
    standInForElectron: makeStandIn(join(folder, 'electron')),
  });
  resources = join(folder, 'out/linux-unpacked/resources');
  archive = join(resources, 'app.asar');
  extracted = join(folder, 'app');
  asar.extractAll(archive, extracted);
  rmSync(join(extracted, 'node_modules'), { recursive: true });
}, 180_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function writePreset(name: string, content: object): string {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify({ teamPreset: 1, name: 'Acme', organisation: 'Acme', ...content }));
  return path;
}

/** The files of an Electron for Linux that electron-builder processes. */
function makeStandIn(path: string): string {
  for (const name of ['resources', 'locales']) mkdirSync(join(path, name), { recursive: true });
  for (const locale of ['de', 'en-US', 'zh-CN', 'zh-TW']) writeFileSync(join(path, `locales/${locale}.pak`), locale);
  for (const name of ['LICENSE', 'LICENSES.chromium.html', 'version']) writeFileSync(join(path, name), name);
  writeFileSync(join(path, 'electron'), '#!/bin/sh\n');
  chmodSync(join(path, 'electron'), 0o755);
  return path;
}

describe('the packed program', () => {
  it('contains what it needs, and nothing else', () => {
    const files = asar.listPackage(archive).map((path) => path.replaceAll('\\', '/').slice(1));
    const names = ['main.js', 'preload.cjs', 'keychain-helper.js', 'translation-thread.js', 'cli.js'];
    const program = names.map((name) => `program/${name}`);
    expect(files).toEqual(expect.arrayContaining(['package.json', 'LICENSE', ...nativeModules]));
    expect(files).toEqual(
      expect.arrayContaining([...program, 'window/index.html', 'team-preset.json'].map((path) => `dist/${path}`)),
    );
    const wanted = [
      /^(package\.json|LICENSE|dist|dist\/THIRD-PARTY-NOTICES\.txt)$/,
      /^dist\/((program|window)(\/.+)?|team-preset\.json)$/,
      /^node_modules(\/keytar(\/package\.json|\/LICENSE\.md|\/lib|\/lib\/keytar\.js)?)?$/,
      /^node_modules\/keytar\/build(\/Release(\/keytar\.node)?)?$/,
      /^node_modules\/@napi-rs(\/keyring(\/(package\.json|LICENSE|index\.js))?)?$/,
      /^node_modules\/@napi-rs\/keyring-[\w-]+(\/(package\.json|LICENSE.*|keyring\.[\w-]+\.node))?$/,
    ];
    expect(files.filter((path) => !wanted.some((pattern) => pattern.test(path)))).toEqual([]);
    expect(files.filter((path) => /\.(map|tsx?)$|\.test\./.test(path))).toEqual([]);
    expect(statSync(archive).size).toBeLessThan(budgetBytes);
  });

  it('has its native modules beside the archive, where the system can load them', () => {
    expect(keyringBinaries.length).toBeGreaterThan(0);
    for (const path of nativeModules) {
      expect(asar.statFile(archive, path).unpacked, path).toBe(true);
      const beside = readFileSync(join(resources, 'app.asar.unpacked', path));
      expect(beside.equals(readFileSync(join(checkout, path))), path).toBe(true);
    }
  });

  it('has its entry where Electron looks for it', () => {
    const manifest = JSON.parse(readFileSync(join(extracted, 'package.json'), 'utf8'));
    expect(manifest).toMatchObject({ name: 'sluice', main: 'dist/program/main.js', type: 'module' });
    expect(manifest).toMatchObject({ author: { name: 'The Sluice authors' }, homepage: 'https://sluice.example' });
    expect(manifest).not.toHaveProperty('devDependencies');
  });

  it('has under its own name what Electron brings: the program, its licences, the two languages', () => {
    const program = join(folder, 'out/linux-unpacked');
    const expected = ['sluice', 'LICENSE.electron.txt', 'LICENSES.chromium.html'];
    expect(readdirSync(program)).toEqual(expect.arrayContaining(expected));
    expect(readdirSync(join(program, 'locales')).sort()).toEqual(['en-US.pak', 'zh-CN.pak']);
  });

  it('knows where its updates are', () => {
    const feed = readFileSync(join(resources, 'app-update.yml'), 'utf8');
    expect(feed).toContain('provider: generic');
    expect(feed).toContain('url: https://updates.example/sluice');
  });

  it('is not made with a team preset that cannot be used', async () => {
    const presetFile = writePreset('wrong.json', { contact: 'sk-proj-planted1234567890' });
    const outputFolder = join(folder, 'never');
    const attempt = packageApp({ systems: ['linux'], isFolderOnly: true, outputFolder, presetFile });
    await expect(attempt).rejects.toThrow(/wrong\.json cannot be used: contact: this looks like a secret/);
    expect(existsSync(outputFolder)).toBe(false);
  });

  it('tells the system which links and files it opens', () => {
    const config = JSON.parse(readFileSync(join(checkout, 'build/electron-builder.json'), 'utf8'));
    expect(config.protocols).toEqual([{ name: 'Sluice', schemes: ['sluice'] }]);
    expect(config.fileAssociations.map(({ ext }: { ext: string }) => ext)).toEqual([
      'sluice-preset',
      'sluice-cassette',
    ]);
  });

  it.runIf(hasChromium)('starts as a desktop, window and all', async () => {
    const desktop = await openDesktop({ main: join(extracted, 'dist/program/main.js') });
    await (await desktop.page()).getByRole('status').getByText('Serving').waitFor();
    expect((await (await desktop.client()).models.list()).data.map(({ id }) => id)).toContain('demo-chat');
    await desktop.close();
  });

  it('has an engine that serves all thirteen routes on plain Node, with the team preset applied', async () => {
    const program = startProgram(['serve', '--json', '--port', '0', '--data-dir', join(folder, 'data')], {
      program: join(extracted, 'dist/program/cli.js'),
    });
    const { baseUrl, key = '' } = await readyOf(program);
    expect(await askAllRoutes(baseUrl, key)).toHaveLength(13);
    const stored = JSON.parse(readFileSync(join(folder, 'data/config.json'), 'utf8'));
    expect(stored.settings.ledger.retentionDays).toBe(30);
    program.child.kill('SIGTERM');
    expect(await program.ended).toBe(0);
  });
});
