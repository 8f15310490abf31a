/** The steps of `.github/workflows/release.yml` that make a release of what the jobs on all systems built, with stand-ins for that. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { releaseNotes } from '../../build/release/assemble.ts';
import { makeCask } from '../../build/release/cask.ts';
import { tagProblems } from '../../build/release/check-tag.ts';
import { builtNames, installerName, type Processor, processors } from '../../build/release/installers.ts';
import { mergeFeeds } from '../../build/release/merge-feeds.ts';
import { makeWingetManifests } from '../../build/release/winget.ts';
import { onlyIf } from '../support/only-if.ts';
import { checkout } from '../support/program.ts';

const homepage = 'https://github.com/Example-Org/Sluice.app';
const { version } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
const sha = (algorithm: string, content: string | Buffer) => createHash(algorithm).update(content).digest();

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-steps-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** As the workflow runs it. */
function runStep(name: string, ...parameters: string[]) {
  const { status, stderr } = spawnSync(process.execPath, [join(checkout, `build/release/${name}.ts`), ...parameters], {
    env: { SLUICE_HOMEPAGE: homepage },
    encoding: 'utf8',
  });
  return { status, stderr };
}

describe('the tag', () => {
  const release = (name: string, content: Record<string, string>) => {
    const root = join(folder, name);
    mkdirSync(root);
    const lock = { version: '1.2.3', packages: { '': { version: content.inner ?? '1.2.3' } } };
    writeFileSync(join(root, 'package.json'), JSON.stringify({ version: content.package ?? '1.2.3' }));
    writeFileSync(join(root, 'package-lock.json'), JSON.stringify(lock));
    writeFileSync(
      join(root, 'CHANGELOG.md'),
      `# Changelog\n\n## ${content.heading ?? '1.2.3'}\n\n- One.\n\n## 1.2.2\n`,
    );
    return root;
  };

  it('is released where all have its version', () => {
    expect(tagProblems('v1.2.3', release('same', {}))).toEqual([]);
    expect(tagProblems('v1.2.3', release('dated', { heading: '1.2.3 (2027-01-31)' }))).toEqual([]);
  });

  it.each([
    ['package.json', 'other-package', { package: '1.2.4' }],
    ['the root package of package-lock.json', 'other-lock', { inner: '1.2.2' }],
    ['the newest section of CHANGELOG.md', 'unreleased', { heading: 'Unreleased' }],
  ])('is refused where %s has another version', (place, name, content) => {
    const problems = tagProblems('v1.2.3', release(name, content));
    expect(problems).toEqual([expect.stringContaining(`${place} has`)]);
  });

  it('is refused if it is no version, with an exit code that ends the workflow', () => {
    expect(runStep('check-tag', 'vanilla')).toEqual({
      status: 1,
      stderr: 'The tag vanilla is not a version such as v1.2.3.\n',
    });
  });
});

test('installers are expected under the names that electron-builder gives them', () => {
  const { Arch, getArtifactArchName } = createRequire(import.meta.url)('builder-util');
  const { artifactName } = JSON.parse(readFileSync(join(checkout, 'build/electron-builder.json'), 'utf8'));
  expect(artifactName).toMatch(/^\$\{productName\}-\$\{version\}-\$\{os\}-\$\{arch\}\.\$\{ext\}$/);
  for (const processor of processors) {
    for (const extension of ['dmg', 'zip', 'exe', 'AppImage', 'deb', 'rpm', 'tar.gz']) {
      const word = getArtifactArchName(Arch[processor], extension);
      expect(installerName('1.2.3', { system: 'linux', processor, extension })).toBe(
        `Sluice-1.2.3-linux-${word}.${extension}`,
      );
    }
  }
  expect(builtNames('1.2.3')).toEqual(expect.arrayContaining(['Sluice-1.2.3-win-arm64.exe', 'latest-mac.yml']));
});

/** A feed as electron-builder writes it for the files of one processor. */
function feedOf(names: readonly string[], contentOf: (name: string) => string): string {
  const files = names.map((url) => {
    const content = contentOf(url);
    return { url, sha512: sha('sha512', content).toString('base64'), size: Buffer.byteLength(content) };
  });
  const [first] = files;
  return stringify({
    version,
    files,
    path: first?.url,
    sha512: first?.sha512,
    releaseDate: '2027-01-31T10:00:00.000Z',
  });
}

/** What the six jobs upload, in the folders in which they are downloaded. */
function makeArtifacts(name: string): string {
  const artifacts = join(folder, name);
  const contentOf = (file: string) => `content of ${file}`;
  const extensions = { mac: ['zip', 'dmg'], win: ['exe'], linux: ['AppImage', 'deb', 'rpm', 'tar.gz'] } as const;
  for (const system of ['mac', 'win', 'linux'] as const) {
    for (const processor of processors) {
      const job = join(artifacts, `installers-${system}-${processor}`);
      mkdirSync(job, { recursive: true });
      const names = extensions[system].map((extension) => installerName(version, { system, processor, extension }));
      for (const file of names) writeFileSync(join(job, file), contentOf(file));
      const components = ['a', `z-${system}-${processor}`].map((name) => ({ 'bom-ref': name }));
      writeFileSync(join(job, `Sluice-${version}.cdx.json`), JSON.stringify({ specVersion: '1.6', components }));
      writeFileSync(join(job, feedNameOf(system, processor)), feedOf(names, contentOf));
    }
  }
  return artifacts;
}

function feedNameOf(system: 'mac' | 'win' | 'linux', processor: Processor): string {
  if (system === 'win') return 'latest.yml';
  return system === 'linux' && processor === 'arm64' ? 'latest-linux-arm64.yml' : `latest-${system}.yml`;
}

describe('a release', () => {
  let artifacts: string;
  let release: string;
  beforeAll(() => {
    artifacts = makeArtifacts('artifacts');
    release = join(folder, 'release');
    expect(runStep('assemble', artifacts, release, join(folder, 'notes.md'))).toEqual({ status: 0, stderr: '' });
  });
  /** A copy in which something is wrong. */
  function spoiled(name: string, spoil: (copy: string) => void) {
    const copy = join(folder, name);
    cpSync(release, copy, { recursive: true });
    spoil(copy);
    return runStep('verify', copy);
  }

  it('has the installers of all systems and processors, and what package managers and updaters read', () => {
    const manifests = ['sluice.rb', ...['', '.installer', '.locale.en-US'].map((part) => `Sluice.Sluice${part}.yaml`)];
    expect(readdirSync(release).sort()).toEqual([...builtNames(version), ...manifests, 'SHA256SUMS'].sort());
    expect(runStep('verify', release)).toEqual({ status: 0, stderr: '' });
  });

  it('has one feed for both processors of macOS and of Windows, each with the files of both', () => {
    const urlsOf = (name: string) =>
      parse(readFileSync(join(release, name), 'utf8')).files.map(({ url }: { url: string }) => url);
    const names = (system: string, extensions: string[]) =>
      ['x64', 'arm64'].flatMap((processor) =>
        extensions.map((each) => `Sluice-${version}-${system}-${processor}.${each}`),
      );
    expect(urlsOf('latest-mac.yml')).toEqual(names('mac', ['zip', 'dmg']));
    expect(urlsOf('latest.yml')).toEqual(names('win', ['exe']));
    expect(urlsOf('latest-linux-arm64.yml')).toContain(`Sluice-${version}-linux-arm64.AppImage`);
    expect(parse(readFileSync(join(release, 'latest.yml'), 'utf8')).path).toBe(`Sluice-${version}-win-x64.exe`);
  });

  it('gives an updater the files of its own processor', () => {
    const provider = createRequire(import.meta.url).resolve('electron-updater/out/providers/Provider.js');
    const chooses = (processor: Processor) => {
      const script = `
        Object.defineProperty(process, 'arch', { value: '${processor}' });
        const { findFile, parseUpdateInfo, resolveFiles } = require(${JSON.stringify(provider)});
        const text = require('node:fs').readFileSync('latest.yml', 'utf8');
        const files = resolveFiles(parseUpdateInfo(text, 'latest.yml', ''), new URL('https://updates.example/'));
        console.log(findFile(files, 'exe').url.pathname);
      `;
      return spawnSync(process.execPath, ['-e', script], { cwd: release, encoding: 'utf8' }).stdout.trim();
    };
    for (const processor of processors) expect(chooses(processor)).toBe(`/Sluice-${version}-win-${processor}.exe`);
  });

  it('has one bill of materials, with what is in the installers of each system', () => {
    const { specVersion, components } = JSON.parse(readFileSync(join(release, `Sluice-${version}.cdx.json`), 'utf8'));
    expect(specVersion).toBe('1.6');
    expect(components.map((component: { 'bom-ref': string }) => component['bom-ref'])).toEqual([
      'a',
      ...['linux-arm64', 'linux-x64', 'mac-arm64', 'mac-x64', 'win-arm64', 'win-x64'].map((name) => `z-${name}`),
    ]);
  });

  it('has checksums that the usual program verifies', () => {
    const { status, stdout } = spawnSync('sha256sum', ['--check', 'SHA256SUMS'], { cwd: release, encoding: 'utf8' });
    expect(status).toBe(0);
    expect(stdout.match(/: OK$/gm)).toHaveLength(readdirSync(release).length - 1);
  });

  it('says what changed and how a download is verified', () => {
    expect(releaseNotes('# Changelog\n\n## 1.2.3\n\n- One.\n\n## 1.2.2\n\n- Old.\n', homepage)).toBe(
      `- One.

### Verify a download

\`\`\`sh
sha256sum --check --ignore-missing SHA256SUMS
gh attestation verify FILE --repo Example-Org/Sluice.app
\`\`\`
`,
    );
    expect(readFileSync(join(folder, 'notes.md'), 'utf8')).toContain('### Verify a download');
  });

  it('is not made without an installer', () => {
    const incomplete = makeArtifacts('incomplete');
    rmSync(join(incomplete, 'installers-win-arm64', `Sluice-${version}-win-arm64.exe`));
    const step = runStep('assemble', incomplete, join(folder, 'never'), join(folder, 'never.md'));
    expect(step.status).toBe(1);
    expect(step.stderr).toContain(`No job has made Sluice-${version}-win-arm64.exe.`);
  });

  it('is not made of different files of one name', () => {
    const ambiguous = makeArtifacts('ambiguous');
    const zip = `Sluice-${version}-mac-x64.zip`;
    writeFileSync(join(ambiguous, 'installers-mac-arm64', zip), 'other');
    const { stderr } = runStep('assemble', ambiguous, join(folder, 'never'), join(folder, 'never.md'));
    expect(stderr).toContain(`${zip} has different content in`);
  });

  it('is not passed with a file that is gone, changed, added or of another release', () => {
    const deb = `Sluice-${version}-linux-amd64.deb`;
    const zip = `Sluice-${version}-mac-arm64.zip`;
    const gone = spoiled('gone', (copy) => rmSync(join(copy, deb)));
    expect(gone).toEqual({ status: 1, stderr: `${deb} is missing.\n` });
    const changed = spoiled('changed', (copy) => appendFileSync(join(copy, zip), '!'));
    expect(changed.stderr.split('\n')).toEqual([
      `${zip} does not have the checksum that SHA256SUMS lists.`,
      `latest-mac.yml names ${zip}, which is not that file.`,
      '',
    ]);
    const added = spoiled('added', (copy) => writeFileSync(join(copy, 'extra.exe'), ''));
    expect(added.stderr).toBe('extra.exe does not have the checksum that SHA256SUMS lists.\n');
    const other = spoiled('other', (copy) => {
      const cask = join(copy, 'sluice.rb');
      writeFileSync(cask, readFileSync(cask, 'utf8').replace(`version "${version}"`, 'version "0.0.1"'));
    });
    expect(other.stderr).toContain('sluice.rb does not name the installers of this release.');
  });

  it('is not made of feeds of different versions', () => {
    const feed = feedOf(['a.zip'], (name) => name);
    expect(() => mergeFeeds([feed, feed.replace(`version: ${version}`, 'version: 9.9.9')])).toThrow(
      /different versions/,
    );
  });
});

const facts = {
  version: '1.2.3',
  homepage,
  sha256Of: (name: string) => sha('sha256', name).toString('hex'),
};

describe('the Homebrew cask', () => {
  const cask = makeCask(facts);
  const digest = (processor: Processor) => facts.sha256Of(`Sluice-1.2.3-mac-${processor}.dmg`);

  it('names both images, in the order of the Cask Cookbook', () => {
    expect(cask).toContain(`sha256 arm:   "${digest('arm64')}",\n         intel: "${digest('x64')}"`);
    expect(cask).toContain(`url "${homepage}/releases/download/v#{version}/Sluice-#{version}-mac-#{arch}.dmg"`);
    const stanzas = [...cask.matchAll(/^ {2}([a-z_\d]+)\b/gm)].map(([, name]) => name).filter((name) => name !== 'end');
    expect(stanzas).toEqual(
      ['arch', 'version', 'sha256', 'url', 'name', 'desc', 'homepage', 'livecheck'].concat([
        'auto_updates',
        'depends_on',
        'app',
        'uninstall',
        'zap',
      ]),
    );
    const description = /desc "(.*)"/.exec(cask)?.[1] ?? '';
    expect(description).toMatch(/^[A-Z]((?!Sluice|macOS).){10,78}[^.]$/);
  });

  const hasRuby = spawnSync('ruby', ['--version']).status === 0;
  it.runIf(onlyIf(hasRuby, 'Ruby is not installed'))('is Ruby', () => {
    expect(spawnSync('ruby', ['-c'], { input: cask, encoding: 'utf8' })).toMatchObject({
      stdout: 'Syntax OK\n',
      status: 0,
    });
  });
});

/** What the schemas of winget 1.12.0 require of the fields that are used (microsoft/winget-cli, `schemas/JSON/manifests`). */
const url = z
  .string()
  .regex(/^https?:\/\/.+$/)
  .max(2048);
const common = {
  PackageIdentifier: z
    .string()
    .regex(/^[^.\s\\/:*?"<>|]{1,32}(\.[^.\s\\/:*?"<>|]{1,32}){1,7}$/)
    .max(128),
  PackageVersion: z
    .string()
    .regex(/^[^\\/:*?"<>|]+$/)
    .max(128),
  ManifestVersion: z.literal('1.12.0'),
};
const schemas = {
  version: z.strictObject({ ...common, DefaultLocale: z.literal('en-US'), ManifestType: z.literal('version') }),
  installer: z.strictObject({
    ...common,
    InstallerType: z.enum(['msix', 'msi', 'appx', 'exe', 'zip', 'inno', 'nullsoft', 'wix', 'burn', 'pwa', 'portable']),
    InstallModes: z.array(z.enum(['interactive', 'silent', 'silentWithProgress'])).max(3),
    UpgradeBehavior: z.enum(['install', 'uninstallPrevious', 'deny']),
    Protocols: z.array(z.string().max(2048)).max(64),
    Installers: z.array(
      z.strictObject({
        Architecture: z.enum(['x86', 'x64', 'arm', 'arm64', 'neutral']),
        Scope: z.enum(['user', 'machine']),
        InstallerSwitches: z.strictObject({ Custom: z.string().min(1).max(2048) }),
        InstallerUrl: url,
        InstallerSha256: z.string().regex(/^[A-Fa-f0-9]{64}$/),
      }),
    ),
    ManifestType: z.literal('installer'),
  }),
  defaultLocale: z.strictObject({
    ...common,
    PackageLocale: z.literal('en-US'),
    Publisher: z.string().min(2).max(256),
    PublisherUrl: url,
    PackageName: z.string().min(2).max(256),
    PackageUrl: url,
    License: z.string().min(3).max(512),
    LicenseUrl: url,
    ShortDescription: z.string().min(3).max(256),
    Moniker: z.string().min(1).max(40),
    Tags: z.array(z.string().min(1).max(40)).max(16),
    ReleaseNotesUrl: url,
    ManifestType: z.literal('defaultLocale'),
  }),
};

describe('the winget manifests', () => {
  const manifests = Object.entries(makeWingetManifests(facts)).map(([name, text]) => ({
    name,
    text,
    fields: parse(text),
  }));

  it('have the fields that the schemas require, and no others', () => {
    expect(manifests.map(({ fields }) => fields.ManifestType)).toEqual(Object.keys(schemas));
    for (const { text, fields } of manifests) {
      const type: keyof typeof schemas = fields.ManifestType;
      expect(() => schemas[type].parse(fields)).not.toThrow();
      const [comment] = text.split('\n');
      expect(comment).toBe(`# yaml-language-server: $schema=https://aka.ms/winget-manifest.${type}.1.12.0.schema.json`);
    }
  });

  it('name the installer of each processor, for one person and for all', () => {
    const { Installers } = manifests.find(({ fields }) => fields.ManifestType === 'installer')?.fields ?? {};
    const expected = processors.flatMap((processor) =>
      ['user', 'machine'].map((scope) => ({
        Architecture: processor,
        Scope: scope,
        InstallerUrl: `${homepage}/releases/download/v1.2.3/Sluice-1.2.3-win-${processor}.exe`,
        InstallerSha256: facts.sha256Of(`Sluice-1.2.3-win-${processor}.exe`).toUpperCase(),
      })),
    );
    expect(Installers).toMatchObject(expected);
  });
});
