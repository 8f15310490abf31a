/**
 * A data folder that an earlier version has made (`earlier-folder`), with every feature that was removed since: shadow requests in
 * the configuration, in presets and in the ledger; videos that were edited, extended and cast; a recording from an HTTP Archive.
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { goneRoutes, removedFeatures } from '../../server/contract/removed-features.ts';
import { claimFolder } from '../../server/data-folder/claim-folder.ts';
import { type Engine, openEngine } from '../../server/engine/open-engine.ts';
import { hashOf, testKey } from '../support/gateway.ts';
import { json, type ScriptedUpstream, startUpstream } from '../support/upstream.ts';
import { runVerb } from './cli/run-cli.ts';
import { refusalOf } from './control/control-gateway.ts';

const earlier = join(import.meta.dirname, 'earlier-folder');
let root: string;
let dataDir: string;
let notices: string[];
let engines: Engine[];
let upstream: ScriptedUpstream;

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'sluice-removed-'));
  dataDir = join(root, 'data');
  notices = [];
  engines = [];
  upstream = await startUpstream((request, response) =>
    json(response, { id: 'video_1', url: request.url, choices: [] }),
  );
  cpSync(earlier, dataDir, { recursive: true });
  const ledger = new DatabaseSync(join(dataDir, 'ledger.sqlite'));
  // In one transaction, without a journal file, and without waiting for the disk, which nothing here depends on.
  const sql = readFileSync(join(earlier, 'ledger.sql'), 'utf8');
  ledger.exec(`PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; BEGIN; ${sql}; COMMIT`);
  ledger.close();
  const config = readFileSync(join(earlier, 'config.json'), 'utf8')
    .replaceAll('http://UPSTREAM/v1', upstream.baseUrl)
    .replaceAll('CASSETTE', join(dataDir, 'cassette'))
    .replaceAll('sha256:HASH_OF_mine', hashOf(testKey))
    .replaceAll('sha256:HASH_OF_rec', hashOf(`${testKey} of the recorded`));
  writeFileSync(join(dataDir, 'config.json'), config);
});
afterEach(async () => {
  for (const engine of engines) await engine.close(0);
  await upstream.stop();
  rmSync(root, { recursive: true, force: true });
});

interface Start {
  configFile?: string;
  policy?: string;
}

async function start({ configFile, policy = join(root, 'none.json') }: Start = {}): Promise<Engine> {
  const claim = await claimFolder(dataDir);
  if ('holder' in claim) throw new Error('the folder is held');
  const engine = await openEngine(claim, {
    environment: { dataDir, systemLogDir: null, passphrase: undefined, secrets: 'file', proxies: {} },
    ...{ env: {}, configFile, listen: { host: '127.0.0.1', port: 0 } },
    teamPresets: { policy, ownerId: process.getuid?.() ?? null },
    notice: (line) => notices.push(line),
  });
  engines.push(engine);
  return engine;
}

const end = () => engines.pop()?.close(0);
const toldOfShadows = () => notices.filter((line) => line.includes('shadow requests'));
const removedFields = async ({ gateway }: Engine) => (await gateway.query({ type: 'status' })).removedFields;

const inConfig = () =>
  `groups.default.shadow, groups.writing.shadow, settings.joinPreset.groups.default.shadow in ${join(dataDir, 'config.json')} has no effect any more, because Sluice has no shadow requests now: to try another model, capture requests and compare it on them ("sluice compare", or "Compare models…" in the window).`;
const inPreset = () =>
  expect.stringMatching(/^groups\.default\.shadow in the imported preset of .*team-presets\.json has no effect/);

test('what was removed is told once at start, in the log, to whoever started it, and to doctor', async () => {
  const engine = await start();
  expect(toldOfShadows()).toEqual([inConfig(), inPreset()]);
  expect(await removedFields(engine)).toEqual([inConfig(), inPreset()]);
  await engine.logFile.close();
  const logs = readdirSync(join(dataDir, 'logs')).map((name) => readFileSync(join(dataDir, 'logs', name), 'utf8'));
  const lines = logs
    .join('')
    .split('\n')
    .filter((line) => line.includes('shadow requests'));
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual([inConfig(), inPreset()]);
  await end();

  const doctor = await runVerb(['doctor', '--data-dir', dataDir]);
  expect(doctor.stdout).toContain(`ok      removed: ${inConfig()}\n`);
  expect(doctor.stdout).toContain('ok      removed: groups.default.shadow in the imported preset of ');
});

test('the rest of the configuration and of the presets is in force, and a change stores it without what was removed', async () => {
  const engine = await start();
  const groups = await engine.gateway.query({ type: 'groups' });
  expect(groups.map(({ id, models, deny }) => [id, models, deny])).toEqual([
    ['default', ['*'], ['secret-*']],
    ['writing', ['gpt-*'], []],
    ['plain', ['*'], []],
    ['recorded', ['*'], []],
  ]);
  expect((await engine.gateway.query({ type: 'status' })).team).toMatchObject({
    presets: [{ source: 'imported', name: 'Shared groups' }],
    locks: [{ path: 'groups/default' }, { path: 'groups/default/deny' }],
  });
  await engine.gateway.execute({ type: 'group.put', group: { id: 'plain', models: ['gpt-x'] } });
  for (const name of ['config.json', 'config.backup.json']) {
    const text = readFileSync(join(dataDir, name), 'utf8');
    expect(JSON.parse(text).version).toBe(2);
    expect(text).not.toContain('shadow');
  }
  await end();
  notices = [];
  expect(await removedFields(await start())).toEqual([inPreset()]);
  expect(toldOfShadows()).toEqual([inPreset()]);
});

test('requests work, without shadows, on videos that were edited and cast, and from a recording of an HTTP Archive', async () => {
  const engine = await start();
  const { port } = await engine.gateway.start();
  const call = (path: string, key: string, body?: unknown) =>
    fetch(`http://127.0.0.1:${port}/v1${path}`, {
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    });
  const question = { model: 'gpt-x', messages: [{ role: 'user', content: 'Recorded?' }] };
  expect((await call('/chat/completions', testKey, question)).status).toBe(200);
  const replayed = await call('/chat/completions', `${testKey} of the recorded`, question);
  expect(await replayed.text()).toContain('From an archive.');
  for (const edited of ['video_4e54543d', 'video_9ddbda9c'])
    expect((await call(`/videos/${edited}`, testKey)).status).toBe(200);
  expect(upstream.seen.map(({ url, body }) => [url, body.includes('cheap')])).toEqual([
    ['/v1/chat/completions', false],
    ['/v1/videos/video_4e54543d', false],
    ['/v1/videos/video_9ddbda9c', false],
  ]);
});

test('shadows in the ledger are read as they were, and are no usage of keys and groups', async () => {
  const { gateway } = await start();
  const { requests } = await gateway.query({ type: 'requests', limit: 50 });
  expect(requests).toHaveLength(12);
  const shadows = requests.filter(({ shadowOf }) => shadowOf !== null);
  expect(shadows).toMatchObject([
    { keyId: null, groupId: 'default', modelServed: 'cheap', captured: 'shadow', sameAnswer: false },
    { keyId: null, groupId: 'default', modelServed: 'cheap', captured: 'shadow', sameAnswer: false },
  ]);
  const [shadow] = shadows;
  const { request } = await gateway.query({ type: 'request', id: shadow?.id ?? '' });
  expect(requests.map(({ id }) => id)).toContain(request.shadowOf?.id);
  const usage = async (by: 'key' | 'group') =>
    (await gateway.query({ type: 'usage', by })).map(({ name, requests: count, costUsd }) => [name, count, costUsd]);
  expect(await usage('key')).toEqual([
    ['mine', 9, 1.634],
    ['shadow:default', 2, 0.0034],
    ['rec', 1, 0],
  ]);
  expect(await usage('group')).toEqual([
    ['default', 9, 1.634],
    ['shadow:default', 2, 0.0034],
    ['recorded', 1, 0],
  ]);
  let exported = '';
  for await (const piece of gateway.exportRequests('jsonl', {})) exported += piece;
  expect(exported.trimEnd().split('\n')).toHaveLength(12);
});

test('a policy that an earlier version has applied is not applied anew for the field that is dropped', async () => {
  const policy = join(root, 'policy.json');
  cpSync(join(earlier, 'policy.json'), policy);
  const memory = JSON.parse(readFileSync(join(dataDir, 'team-presets.json'), 'utf8'));
  // As the earlier version noted the policy: SHA-256 of its JSON.
  const applied = hashOf(JSON.stringify(JSON.parse(readFileSync(policy, 'utf8')))).slice('sha256:'.length);
  writeFileSync(join(dataDir, 'team-presets.json'), JSON.stringify({ ...memory, applied }));
  const config = JSON.parse(readFileSync(join(dataDir, 'config.json'), 'utf8'));
  const groups = config.groups.map((group: object) => ({ ...group, name: 'Mine' }));
  writeFileSync(join(dataDir, 'config.json'), JSON.stringify({ ...config, groups }));
  const engine = await start({ policy });
  const plain = async () => (await engine.gateway.query({ type: 'groups' })).find(({ id }) => id === 'plain');
  expect(await plain()).toMatchObject({ name: 'Mine', deny: ['secret-*'] });
  const inPolicy = `groups.plain.shadow in ${policy} has no effect any more`;
  expect(toldOfShadows().filter((line) => line.startsWith(inPolicy))).toHaveLength(1);
  expect(await removedFields(engine)).toContainEqual(expect.stringContaining(inPolicy));
  expect((await engine.gateway.query({ type: 'status' })).team.locks.map(({ path }) => path)).toContain(
    'groups/plain/deny',
  );
});

test('a declarative file is read with what was removed, and told of it once, also when it is read again', async () => {
  const configFile = join(root, 'declared.json');
  cpSync(join(dataDir, 'config.json'), configFile);
  const engine = await start({ configFile });
  const told = toldOfShadows().filter((line) => line.includes(configFile));
  expect(told).toHaveLength(1);
  await engine.reload();
  expect(toldOfShadows().filter((line) => line.includes(configFile))).toEqual(told);
  expect(await removedFields(engine)).toEqual(expect.arrayContaining(told));
});

test('an earlier export, preset and declaration can be imported, and the person is told what is dropped', async () => {
  const [exported, preset] = [join(root, 'exported.json'), join(earlier, 'policy.json')];
  cpSync(join(dataDir, 'config.json'), exported);
  rmSync(dataDir, { recursive: true });
  const { config, gateway } = await start();
  await gateway.execute({ type: 'config.import', config: JSON.parse(readFileSync(exported, 'utf8')) });
  expect(config.current.config.groups.map(({ id }) => id)).toEqual(['default', 'writing', 'plain', 'recorded']);
  await end();
  const declared = join(root, 'declared.json');
  const { locked: _, ...unlocked } = JSON.parse(readFileSync(preset, 'utf8'));
  writeFileSync(declared, JSON.stringify(unlocked));
  for (const line of [
    ['import', exported],
    ['apply', '--file', declared],
    ['preset', 'apply', preset],
  ]) {
    const { code, stderr } = await runVerb([...line, '--yes', '--data-dir', dataDir]);
    expect([line, code]).toEqual([line, 0]);
    expect(stderr).toContain('has no effect any more, because Sluice has no shadow requests now: to try another model');
  }
});

test('the words of removed features are answered with what to use instead, and so are their calls', async () => {
  const { gateway } = await start();
  for (const { name, words = [], calls = [] } of removedFeatures) {
    for (const line of words) {
      const { code, stdout, stderr } = await runVerb([...line.split(' '), 'x', '--json']);
      expect([line, code, stdout]).toEqual([line, 2, '']);
      expect(JSON.parse(stderr).error.message).toMatch(new RegExp(`^Sluice has no ${name} any more: \\S.*\\.$`));
    }
    for (const type of calls.filter((call) => !call.startsWith('/'))) {
      const answers = [await refusalOf(gateway.query({ type })), await refusalOf(gateway.execute({ type }))];
      for (const { code, message } of answers)
        expect([code, message]).toEqual([
          'invalid_command',
          expect.stringContaining(`Sluice has no ${name} any more: `),
        ]);
    }
  }
  const { port } = await gateway.start();
  const authorization = `Bearer ${readFileSync(join(dataDir, 'admin.token'), 'utf8').trim()}`;
  for (const path of goneRoutes) {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization } });
    expect([path, response.status, await response.text()]).toEqual([
      path,
      404,
      expect.stringContaining('Sluice has no '),
    ]);
  }
});
