import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { readPresetLink } from '../../../server/contract/sluice-link.ts';
import { acmePreset } from '../control/team-preset-file.ts';
import { type CliOptions, endProgramsAfterEach, runJson, runVerb, temporaryFolder } from './run-cli.ts';

endProgramsAfterEach();

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

const run = (line: string, options?: CliOptions) =>
  runVerb([...line.split(' '), '--data-dir', join(folder, 'data')], options);
const ask = (line: string) => runJson([...line.split(' '), '--data-dir', join(folder, 'data')]);

function put(preset: object): string {
  const path = join(folder, 'team.json');
  writeFileSync(path, JSON.stringify(preset));
  return path;
}

describe('a team preset on the command line', () => {
  test('is shown with all that it would change, and changes nothing', async () => {
    const { code, stdout } = await run(`preset show ${put({ ...acmePreset, locked: ['groups'] })}`);
    expect(code).toBe(0);
    expect(stdout).toContain('Acme engineering (2026-11), by Acme; ask it@acme.example');
    expect(stdout).toContain(
      '  added provider acme\n    name: "Acme models"\n    baseUrl: "http://127.0.0.1:9/acme/v1"',
    );
    expect(stdout).toContain('    models: ["*"] -> ["gpt-*","team/*"]');
    expect(stdout).toContain('It locks:\n  groups');
    expect(await ask('provider list')).toMatchObject([{ id: 'demo' }]);
  });

  test('says of one for administrators that it cannot be imported', async () => {
    const preset = put({ ...acmePreset, settings: { host: '0.0.0.0' } });
    const { code, stdout } = await run(`preset show ${preset}`);
    expect(code).toBe(1);
    expect((await run(`preset show ${preset} --managed`)).code).toBe(0);
    expect(stdout).toMatch(/"127\.0\.0\.1" -> "0\.0\.0\.0"[\s\S]*It cannot be imported: .*"host"/);
    expect(await run(`preset apply ${preset} --yes`)).toMatchObject({ code: 1, stdout: '' });
    expect(await run(`preset link ${preset}`)).toMatchObject({ code: 1, stdout: '' });
  });

  test('says what is wrong with one, and repeats no secret', async () => {
    const { code, stderr } = await run(`preset show ${put({ ...acmePreset, contact: 'sk-proj-planted1234567890' })}`);
    expect(code).toBe(1);
    expect(stderr).toContain('contact: this looks like a secret');
    expect(stderr).not.toContain('planted');
  });

  test('is applied where somebody says so, leads to the credentials, locks, and is left', async () => {
    const preset = put({ ...acmePreset, locked: ['groups'] });
    const unasked = await run(`preset apply ${preset}`);
    expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining('use --yes') });
    const { stdout } = await run(`preset apply ${preset} --yes`);
    expect(stdout).toContain('"Acme engineering" is applied.');
    expect(stdout).toContain('  provider credential acme own');
    const refused = await run('group put default --models *');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('set by Acme. Ask it@acme.example.') });
    expect((await run('preset leave')).code).toBe(0);
    expect((await run('group put default --models *')).code).toBe(0);
  });

  test('becomes a link that holds the same preset', async () => {
    const { stdout } = await run(`preset link ${put(acmePreset)}`);
    expect(JSON.parse(readPresetLink(stdout.trim()) ?? '')).toEqual(acmePreset);
  });

  test('is the one of docs/teams.md, which is right', async () => {
    const text = readFileSync(join(import.meta.dirname, '../../../docs/teams.md'), 'utf8');
    const [, example = ''] = /```json\n(\{[\s\S]*?\n\})\n```/.exec(text) ?? [];
    expect((await run(`preset show ${put(JSON.parse(example))}`)).code).toBe(0);
  });
});
