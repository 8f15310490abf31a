import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openManagedPresets, type PresetPlaces, policyPath } from '../../../server/config/managed-preset.ts';
import { onlyIf } from '../../support/only-if.ts';
import { acmePreset } from '../control/team-preset-file.ts';

let folder: string;
let places: Required<PresetPlaces> & { builtIn: string };
let notices: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-policy-'));
  mkdirSync(join(folder, 'etc'), { mode: 0o755 });
  places = {
    policy: join(folder, 'etc/policy.json'),
    builtIn: join(folder, 'team-preset.json'),
    ownerId: process.getuid?.() ?? null,
  };
  notices = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = () => openManagedPresets(places, (line) => notices.push(line));

function put(path: string, content: unknown, mode = 0o644): void {
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content), { mode });
  chmodSync(path, mode);
}

describe('the managed preset', () => {
  test('is absent if there is none', () => {
    expect(open().current).toBeNull();
    expect(notices).toEqual([]);
  });

  test('is the policy, and without one that of the installer', () => {
    put(places.builtIn, { ...acmePreset, name: 'Built in' });
    expect(open().current).toMatchObject({ source: 'built-in', preset: { name: 'Built in' } });
    put(places.policy, acmePreset);
    expect(open().current).toMatchObject({ source: 'policy', path: places.policy, preset: { name: acmePreset.name } });
  });

  test('is looked for again', () => {
    const managed = open();
    expect(managed.refresh()).toBe(false);
    put(places.policy, acmePreset);
    expect(managed.refresh()).toBe(true);
    expect(managed.current?.source).toBe('policy');
    expect(managed.refresh()).toBe(false);
    rmSync(places.policy);
    expect(managed.refresh()).toBe(true);
    expect(managed.current).toBeNull();
  });

  test.each([
    ['no JSON', '{ "teamPreset": 1,', 'not valid JSON'],
    ['no preset', { version: 1 }, 'teamPreset'],
    ['with a secret in it', { ...acmePreset, contact: 'sk-proj-planted1234567890' }, 'looks like a secret'],
    ['too large', ' '.repeat(1024 * 1024 + 1), 'larger than 1 MB'],
  ])('that is %s is reported and ignored, and so is the installer’s then', (_what, content, reason) => {
    put(places.builtIn, acmePreset);
    put(places.policy, content);
    expect(open().current).toBeNull();
    expect(notices).toEqual([expect.stringContaining(reason)]);
    expect(notices[0]).toContain(places.policy);
    expect(notices[0]).not.toContain('planted');
  });
});

describe.runIf(onlyIf(process.platform !== 'win32', 'Windows has no modes of files'))(
  'a policy that others could have written is ignored',
  () => {
    test('if they may write to the file', () => {
      put(places.policy, acmePreset, 0o646);
      expect(open().current).toBeNull();
      expect(notices).toEqual([`The policy ${places.policy} is ignored: it can be written by others than root.`]);
    });

    test('if they may write to its folder', () => {
      put(places.policy, acmePreset);
      chmodSync(join(folder, 'etc'), 0o775);
      expect(open().current).toBeNull();
      expect(notices[0]).toMatch(/its folder can be written by others/);
    });

    test('if it belongs to someone else', () => {
      put(places.policy, acmePreset);
      places.ownerId = (process.getuid?.() ?? 0) + 1;
      expect(open().current).toBeNull();
      expect(notices[0]).toMatch(/it must belong to root/);
    });
  },
);

test('a policy is in a place of the system that only its managers can write to', () => {
  expect(policyPath('linux', {})).toBe('/etc/sluice/policy.json');
  expect(policyPath('darwin', {})).toBe('/Library/Application Support/Sluice/policy.json');
  expect(policyPath('win32', { ProgramFiles: 'D:\\Programs' })).toBe('D:\\Programs\\Sluice Policy\\policy.json');
});
