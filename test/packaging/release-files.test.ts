/** The files beside the installers of a release: its contents, their licences, and the checksums. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundledPackages, packagesBesideBundle } from '../../build/bundled-packages.ts';
import { writeChecksums } from '../../build/checksums.ts';
import { newestChanges } from '../../build/newest-changes.ts';
import { makeNotices } from '../../build/notices.ts';
import { configFor } from '../../build/package-app.ts';
import { makeSbom } from '../../build/sbom.ts';
import { checkout } from '../support/program.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-release-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('of the packages', () => {
  it('those are named whose code or typeface is in the bundle', async () => {
    const root = join(folder, 'program');
    const files = {
      'entry.js':
        "import { used } from 'alpha'; import '@scope/style/look.css'; import './own.css'; import 'unused'; console.log(used);",
      'node_modules/alpha/index.js': "import { inner } from 'inner'; export const used = [inner];",
      'node_modules/alpha/node_modules/inner/index.js': 'export const inner = Math.random();',
      'node_modules/@scope/style/look.css': 'p { color: red }',
      'own.css': '@font-face { font-family: X; src: url("typeface/files/x.woff2") }',
      'node_modules/typeface/files/x.woff2': 'x'.repeat(9_000),
      'node_modules/unused/index.js': 'export const unused = 1;',
    };
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(root, path, '..'), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    const bundled = bundledPackages();
    await build({
      ...{ root, configFile: false, logLevel: 'silent', plugins: [bundled.plugin] },
      build: { write: false, rolldownOptions: { input: join(root, 'entry.js') } },
    });
    const names = ['@scope/style', 'alpha', 'alpha/node_modules/inner', 'typeface'];
    expect(bundled.paths()).toEqual(names.map((name) => `node_modules/${name}`));
  });

  it('native modules are named as far as they are installed here', () => {
    const lock = JSON.parse(readFileSync(join(checkout, 'package-lock.json'), 'utf8'));
    const beside = packagesBesideBundle(checkout, Object.keys(lock.packages));
    expect(beside).toEqual(expect.arrayContaining(['node_modules/electron', 'node_modules/@napi-rs/keyring']));
    const binaries = beside.filter((path) => path.startsWith('node_modules/@napi-rs/keyring-'));
    expect(binaries.length).toBeGreaterThan(0);
    expect(binaries.filter((path) => !path.includes(`-${process.platform}-`))).toEqual([]);
    expect(makeNotices(checkout, binaries)).toContain('dbus-secret-service-keyring-store');
    expect(JSON.stringify(makeSbom(lock, beside))).toContain('pkg:npm/%40napi-rs/keyring@');
  });

  it('the notices carry the licences', () => {
    const notices = makeNotices(checkout, ['node_modules/zod', 'node_modules/@mantine/core']);
    expect(notices).toMatch(/\nzod \d+\.\d+\.\d+ \(MIT\)\n\nMIT License\n/);
    expect(notices).toMatch(/\n@mantine\/core \d+\.\d+\.\d+ \(MIT\)\n/);
  });
});

describe('what an update changes', () => {
  it('is the newest section of the changelog', () => {
    const changelog = '# Changelog\n\nWords.\n\n## 1.1.0\n\n### Added\n\n- One.\n\n## 1.0.0\n\n- Old.\n';
    expect(newestChanges(changelog)).toBe('### Added\n\n- One.');
    expect(newestChanges('# Changelog\n')).toBe('');
  });

  it('goes into the feed by electron-builder’s own option, where there is a feed', () => {
    const outputFolder = join(folder, 'release');
    const releaseNotes = newestChanges(readFileSync(join(checkout, 'CHANGELOG.md'), 'utf8'));
    expect(releaseNotes).toContain('### The gateway');
    expect(configFor({ outputFolder, updateUrl: 'https://updates.example' }).releaseInfo).toEqual({ releaseNotes });
    expect(configFor({ outputFolder })).not.toHaveProperty('releaseInfo');
  });
});

describe('the bill of materials', () => {
  const lock = {
    name: 'sluice',
    version: '1.2.3',
    packages: {
      '': { license: 'MIT' },
      'node_modules/electron': { version: '45.0.0', license: 'MIT' },
      'node_modules/@scope/part': { version: '2.0.0', license: '(MIT OR Apache-2.0)', integrity: 'sha512-AAEC' },
      'node_modules/@scope/part/node_modules/inner': { version: '3.0.0' },
    },
  };

  it('names the program and each package, with licence and hash as the lock file has them', () => {
    expect(makeSbom(lock, Object.keys(lock.packages).slice(1))).toMatchObject({
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      metadata: { component: { type: 'application', name: 'sluice', version: '1.2.3' } },
      components: [
        { type: 'framework', purl: 'pkg:npm/electron@45.0.0', licenses: [{ license: { id: 'MIT' } }] },
        {
          ...{ type: 'library', name: '@scope/part', purl: 'pkg:npm/%40scope/part@2.0.0' },
          licenses: [{ expression: '(MIT OR Apache-2.0)' }],
          hashes: [{ alg: 'SHA-512', content: '000102' }],
        },
        { name: 'inner', purl: 'pkg:npm/inner@3.0.0' },
      ],
    });
  });

  it('is not made of a package that the lock file does not know', () => {
    expect(() => makeSbom(lock, ['node_modules/stranger'])).toThrow('node_modules/stranger');
  });

  it('contains no reference twice for the real program', () => {
    const real = JSON.parse(readFileSync(join(checkout, 'package-lock.json'), 'utf8'));
    const paths = Object.keys(real.packages).filter((path) => path !== '');
    const references: string[] = JSON.stringify(makeSbom(real, paths)).match(/"bom-ref":"[^"]+"/g) ?? [];
    expect(references).toHaveLength(paths.length + 1);
    expect(new Set(references).size).toBe(references.length);
  });
});

it('the checksums are what sha256sum takes, of what a person downloads', async () => {
  const release = join(folder, 'release');
  mkdirSync(join(release, 'linux-unpacked'), { recursive: true });
  const names = ['Sluice-1.2.3-linux-x64.tar.gz', 'Sluice-1.2.3.cdx.json', 'latest-linux.yml'];
  for (const name of [...names, 'builder-debug.yml']) writeFileSync(join(release, name), name);
  await writeChecksums(release);
  await writeChecksums(release);
  const lines = readFileSync(join(release, 'SHA256SUMS'), 'utf8').trimEnd().split('\n');
  expect(lines.map((line) => line.slice(64))).toEqual(names.map((name) => `  ${name}`));
  execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: release, stdio: 'pipe' });
  writeFileSync(join(release, names[0] ?? ''), 'changed');
  expect(() => execFileSync('sha256sum', ['--check', 'SHA256SUMS'], { cwd: release, stdio: 'pipe' })).toThrow();
});
