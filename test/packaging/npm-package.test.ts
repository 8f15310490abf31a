/**
 * The package that `npm pack` creates, installed in a separate project: what a CI job needs to replay a cassette.
 *
 * @suite long
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { plainEnvironment } from '../support/plain-environment.ts';
import { checkout, ensureBuilt } from '../support/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-package-'));
const project = mkdtempSync(join(tmpdir(), 'sluice-project-'));
afterAll(() => {
  for (const each of [folder, project]) rmSync(each, { recursive: true, force: true });
});

const environment = {
  ...plainEnvironment,
  PATH: [dirname(process.execPath), plainEnvironment.PATH].join(delimiter),
  HOME: folder,
  npm_config_cache: join(folder, 'cache'),
  npm_config_offline: 'true',
};

function run(command: string, parameters: readonly string[], cwd: string) {
  return promisify(execFile)(command, parameters, { cwd, env: environment });
}

beforeAll(async () => {
  await ensureBuilt();
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], checkout);
  writeFileSync(join(project, 'package.json'), '{ "name": "project", "private": true }');
  const [name = ''] = readdirSync(folder).filter((each) => each.endsWith('.tgz'));
  await run('npm', ['install', '--omit=dev', '--omit=optional', '--ignore-scripts', join(folder, name)], project);
}, 120_000);

const asks = `
  const { OPENAI_BASE_URL, OPENAI_API_KEY } = process.env;
  const response = await fetch(OPENAI_BASE_URL + '/chat/completions', {
    method: 'POST',
    headers: { authorization: 'Bearer ' + OPENAI_API_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  console.log(response.headers.get('x-sluice-replay'), response.status);
`;

test('records and replays with npx, where nothing else is installed', { timeout: 120_000 }, async () => {
  writeFileSync(join(project, 'ask.mjs'), asks);
  const verb = (name: string) =>
    run('npx', ['sluice', name, '--cassette', 'cassettes', '--', 'node', 'ask.mjs'], project);
  expect(await verb('record')).toEqual({ stdout: 'null 200\n', stderr: 'Cassette cassettes: 1 recorded.\n' });
  expect(await verb('replay')).toEqual({
    stdout: 'hit 200\n',
    stderr: 'Cassette cassettes: 1 replayed, 0 without a recording.\n',
  });
  expect(readdirSync(join(project, 'node_modules'))).toEqual(['.bin', '.package-lock.json', 'sluice']);
});
