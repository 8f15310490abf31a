/** An engine on a managed machine: a policy, or a preset built into the program. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { TeamPreset } from '../../server/contract/team-preset.ts';
import { claimFolder } from '../../server/data-folder/claim-folder.ts';
import { type Engine, openEngine } from '../../server/engine/open-engine.ts';
import { gatherEvents, refusalOf } from './control/control-gateway.ts';
import { acmePreset } from './control/team-preset-file.ts';

let folder: string;
let policy: string;
let notices: string[];
let engines: Engine[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-managed-'));
  mkdirSync(join(folder, 'etc'), { mode: 0o755 });
  policy = join(folder, 'etc/policy.json');
  notices = [];
  engines = [];
});
afterEach(async () => {
  vi.useRealTimers();
  for (const engine of engines) await engine.close(0);
  rmSync(folder, { recursive: true, force: true });
});

interface Start {
  configFile?: string;
  builtIn?: string;
  env?: Record<string, string>;
}

async function start({ configFile, builtIn, env = {} }: Start = {}): Promise<Engine> {
  const dataDir = join(folder, 'data');
  const claim = await claimFolder(dataDir);
  if ('holder' in claim) throw new Error('the folder is held');
  const engine = await openEngine(claim, {
    environment: { dataDir, systemLogDir: null, passphrase: undefined, secrets: 'file', proxies: {} },
    ...{ env, configFile },
    teamPresets: { policy, builtIn, ownerId: process.getuid?.() ?? null },
    notice: (line) => notices.push(line),
  });
  engines.push(engine);
  return engine;
}

async function restart(options?: Start): Promise<Engine> {
  await engines.pop()?.close(0);
  return start(options);
}

function putPolicy(preset: TeamPreset, path = policy): void {
  writeFileSync(path, JSON.stringify(preset), { mode: 0o644 });
}

const groupModels = async ({ gateway }: Engine) => (await gateway.query({ type: 'groups' }))[0]?.models;
const setGroupModels = ({ gateway }: Engine, models: string[]) =>
  gateway.execute({ type: 'group.put', group: { id: 'default', models } });

describe('a managed preset', () => {
  test('is applied at the first start, before anything is served', async () => {
    putPolicy({ ...acmePreset, locked: ['groups/default/models'] });
    const engine = await start();
    expect(await groupModels(engine)).toEqual(['gpt-*', 'team/*']);
    expect(engine.config.isFirstRun).toBe(true);
    expect((await engine.gateway.query({ type: 'status' })).team).toMatchObject({
      presets: [{ source: 'policy', organisation: 'Acme' }],
      locks: [{ path: 'groups/default' }, { path: 'groups/default/models' }],
    });
    expect(await refusalOf(setGroupModels(engine, ['*']))).toMatchObject({ code: 'locked' });
  });

  test('may name a variable of the environment, whose secret is stored nowhere', async () => {
    const credentials = [{ id: 'own', secret: 'env:ACME_KEY' }];
    const providers = acmePreset.providers.map((provider) => ({ ...provider, credentials }));
    putPolicy({ ...acmePreset, providers, settings: { port: 4999 } });
    const engine = await start({ env: { ACME_KEY: 'acme-planted' } });
    const [provider] = await engine.gateway.query({ type: 'providers' });
    expect(provider?.credentials).toMatchObject([{ reference: 'env:ACME_KEY', hasSecret: true }]);
    expect((await engine.gateway.query({ type: 'status' })).settings.port).toBe(4999);
    for (const name of ['config.json', 'team-presets.json'])
      expect(readFileSync(join(folder, 'data', name), 'utf8')).not.toContain('planted');
  });

  test('leaves what is not locked as a person has set it since', async () => {
    putPolicy(acmePreset);
    await setGroupModels(await start(), ['mine']);
    expect(await groupModels(await restart())).toEqual(['mine']);
    putPolicy({ ...acmePreset, groups: [{ id: 'default', models: ['next-*'] }] });
    expect(await groupModels(await restart())).toEqual(['next-*']);
  });

  test('sets what is locked again at each start, whatever was written into the file', async () => {
    putPolicy({ ...acmePreset, locked: ['groups', 'providers/acme/baseUrl'] });
    await start();
    await engines.pop()?.close(0);
    const path = join(folder, 'data/config.json');
    const config = JSON.parse(readFileSync(path, 'utf8'));
    config.groups = [{ id: 'default', models: ['*'] }];
    config.providers[0].baseUrl = 'https://elsewhere.example/v1';
    writeFileSync(path, JSON.stringify(config));
    const engine = await start();
    expect(await groupModels(engine)).toEqual(['gpt-*', 'team/*']);
    expect((await engine.gateway.query({ type: 'providers' }))[0]?.baseUrl).toBe(acmePreset.providers[0]?.baseUrl);
  });

  test('that is removed unlocks everything, without a restart', async () => {
    putPolicy({ ...acmePreset, locked: ['groups'] });
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const engine = await start();
    const events = gatherEvents(engine.gateway);
    await events.next('snapshot', ({ status }) => status.team.locks.length > 0);
    rmSync(policy);
    vi.advanceTimersByTime(60_000);
    await events.next('config-changed', ({ status }) => status.team.presets.length === 0);
    await setGroupModels(engine, ['*']);
    events.stop();
  });

  test('that comes or changes is applied without a restart', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const engine = await start();
    const events = gatherEvents(engine.gateway);
    putPolicy({ ...acmePreset, locked: ['groups'] });
    vi.advanceTimersByTime(60_000);
    await events.next('config-changed', ({ groups }) => groups?.[0]?.models[0] === 'gpt-*');
    events.stop();
    expect(await refusalOf(setGroupModels(engine, ['*']))).toMatchObject({ code: 'locked' });
  });

  test('cannot be left, and nothing that is imported goes against it', async () => {
    putPolicy({ ...acmePreset, locked: ['providers/acme', 'groups'] });
    const { gateway } = await start();
    await gateway.execute({ type: 'team-preset.leave' });
    const against = { teamPreset: 1, name: 'Other', organisation: 'Other', groups: [{ id: 'default', models: ['*'] }] };
    for (const work of [
      gateway.query({ type: 'team-preset-preview', preset: against }),
      gateway.execute({ type: 'team-preset.apply', preset: against }),
    ])
      expect(await refusalOf(work)).toMatchObject({ code: 'locked', message: expect.stringContaining('Acme') });
    const beside = { ...against, groups: [], aliases: [{ name: 'other', targets: acmePreset.aliases[0]?.targets }] };
    await expect(gateway.execute({ type: 'team-preset.apply', preset: beside })).resolves.toBeDefined();
    expect((await gateway.query({ type: 'status' })).team.presets).toHaveLength(2);
  });

  test('that does not fit is reported, and Sluice starts without it', async () => {
    putPolicy({ ...acmePreset, aliases: [{ name: 'lost', targets: [{ provider: 'nobody', model: 'm' }] }] });
    const engine = await start();
    expect(notices.find((line) => line.includes(policy))).toMatch(/is not applied: .*"nobody"/);
    expect(await groupModels(engine)).toEqual(['*']);
  });

  test('is not applied to a configuration that Sluice does not write, which is said', async () => {
    putPolicy(acmePreset);
    const configFile = join(folder, 'code.json');
    writeFileSync(configFile, JSON.stringify({ version: 1, groups: [{ id: 'default' }] }));
    const engine = await start({ configFile });
    expect(await groupModels(engine)).toEqual(['*']);
    expect(notices).toContainEqual(expect.stringContaining(`${policy} is not applied`));
  });

  test('is taken from the program where there is no policy', async () => {
    const builtIn = join(folder, 'team-preset.json');
    putPolicy(acmePreset, builtIn);
    const engine = await start({ builtIn });
    expect((await engine.gateway.query({ type: 'status' })).team.presets).toMatchObject([{ source: 'built-in' }]);
    expect(await groupModels(engine)).toEqual(['gpt-*', 'team/*']);
  });
});

test('an imported preset counts after a restart too', async () => {
  const { gateway } = await start();
  await gateway.execute({ type: 'team-preset.apply', preset: { ...acmePreset, locked: ['groups'] } });
  const engine = await restart();
  expect(await refusalOf(setGroupModels(engine, ['*']))).toMatchObject({ code: 'locked' });
});

test('a damaged record of it is reported, and the preset can be imported again', async () => {
  await start();
  await engines.pop()?.close(0);
  writeFileSync(join(folder, 'data/team-presets.json'), '{');
  const engine = await start();
  expect(notices).toContainEqual(expect.stringMatching(/team-presets\.json cannot be used/));
  await expect(engine.gateway.execute({ type: 'team-preset.apply', preset: acmePreset })).resolves.toBeDefined();
});
