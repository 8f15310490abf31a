import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadDeclarativeConfig } from '../../../server/config/declarative.ts';
import { GatewayError } from '../../../server/contract/errors.ts';
import { exampleConfig } from './config-folder.ts';

const planted = 'sk-planted-4711';
let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-config-'));
  path = join(folder, 'gateway.json');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function refusalOf(text: string): Promise<string> {
  await writeFile(path, text);
  const error = await loadDeclarativeConfig(path).catch((reason: unknown) => reason);
  if (!(error instanceof GatewayError)) throw new Error(`not a GatewayError: ${String(error)}`);
  expect(error.code).toBe('invalid_value');
  expect(`${error.message}${error.stack}`).not.toContain(planted);
  expect(error.message.startsWith(`The configuration file ${path} cannot be used: `)).toBe(true);
  return error.message.slice(`The configuration file ${path} cannot be used: `.length);
}

test('the documented shape is read, defaults filled in, frozen, and with a byte order mark too', async () => {
  for (const text of [JSON.stringify(exampleConfig), `\uFEFF${JSON.stringify(exampleConfig)}`]) {
    await writeFile(path, text);
    const { current, readOnly, isFirstRun } = await loadDeclarativeConfig(path);
    expect({ readOnly, isFirstRun, revision: current.revision }).toEqual({
      readOnly: true,
      isFirstRun: false,
      revision: 1,
    });
    expect(current.config).toMatchObject(exampleConfig);
    expect(current.config.settings.port).toBe(4810);
    expect(Object.isFrozen(current.config.providers[0]?.credentials[0])).toBe(true);
  }
});

test('the store refuses to be changed and leaves the file', async () => {
  await writeFile(path, JSON.stringify(exampleConfig));
  const store = await loadDeclarativeConfig(path);
  await expect(store.commit({ version: 1 })).rejects.toMatchObject({ code: 'read_only' });
  expect(store.current.revision).toBe(1);
  expect(await readFile(path, 'utf8')).toBe(JSON.stringify(exampleConfig));
});

test('a reload succeeds even if a listener fails, and the other listeners are called', async () => {
  await writeFile(path, JSON.stringify(exampleConfig));
  const store = await loadDeclarativeConfig(path);
  const warned = new Promise<Error>((resolve) => process.once('warning', resolve));
  const stopListening = store.onChange(() => {
    throw new Error('listener failed');
  });
  const revisions: number[] = [];
  store.onChange(({ revision }) => revisions.push(revision));
  expect((await store.reload()).revision).toBe(2);
  expect((await warned).message).toBe('listener failed');
  stopListening();
  await store.reload();
  expect(revisions).toEqual([2, 3]);
});

test.each([
  [{ version: 1, unknown: 1 }, 'at the top: Unrecognized key: "unknown".'],
  [
    { version: 1, providers: [{ id: 'a', baseUrl: 'http://x/v1', credentials: [{ id: 'c', secret: planted }] }] },
    'providers[0].credentials[0].secret: use env:NAME, file:PATH or keychain; a secret itself never stands here.',
  ],
  [
    { version: 1, providers: [{ id: 'a', baseUrl: 'http://x/v1', timeouts: { connectMS: 1 } }] },
    'providers[0].timeouts: Unrecognized key: "connectMS".',
  ],
  [{ version: 1, keys: [{ id: 'k', group: 'none', secret: 'env:A' }] }, 'keys[0].group: there is no group "none".'],
  [{ version: 3 }, 'it has version 3, made by a newer Sluice; this one reads up to version 2.'],
  [{ providers: [] }, /^version: /],
  [[], /^at the top: /],
])('%j is refused with its place', async (value, expected) => {
  const refusal = await refusalOf(JSON.stringify(value));
  if (typeof expected === 'string') expect(refusal).toBe(expected);
  else expect(refusal).toMatch(expected);
});

test('many problems are counted, but only some are listed', async () => {
  const providers = Array.from({ length: 9 }, () => ({ baseUrl: 'http://x/v1' }));
  expect(await refusalOf(JSON.stringify({ version: 1, providers }))).toMatch(/; and 4 more\.$/);
});

test('text that is not JSON is refused with line and column, and not quoted', async () => {
  expect(await refusalOf(`{ "version": 1,\n  "keys": [ ${planted} ] }`)).toBe('not valid JSON at line 2, column 13.');
});

test('a missing file is named', async () => {
  await expect(loadDeclarativeConfig(path)).rejects.toThrow(
    `The configuration file ${path} cannot be used: there is no such file (ENOENT).`,
  );
});
