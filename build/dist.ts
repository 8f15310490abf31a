/**
 * Builds a release in `dist/release`: `npm run dist [-- --linux --mac --win --x64 --arm64 --dir --preset FILE]`, by default for the
 * current system and processor. Builds and packs the program, and writes its bill of materials (CycloneDX) and checksums beside the
 * installers. Prerequisites are in `docs/packaging.md`.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { createBuilder } from 'vite';
import { readTeamPreset } from '../server/config/read-team-preset.ts';
import { bundledPackages, packagesBesideBundle } from './bundled-packages.ts';
import { writeChecksums } from './checksums.ts';
import { makeNotices } from './notices.ts';
import { packageApp } from './package-app.ts';
import { makeSbom } from './sbom.ts';

const root = join(import.meta.dirname, '..');
const outputFolder = join(root, 'dist/release');

const { values } = parseArgs({
  options: {
    mac: { type: 'boolean' },
    win: { type: 'boolean' },
    linux: { type: 'boolean' },
    x64: { type: 'boolean' },
    arm64: { type: 'boolean' },
    dir: { type: 'boolean' },
    preset: { type: 'string' },
  },
});
const presetFile = values.preset === undefined ? undefined : resolve(values.preset);
// Checked before the build, which takes minutes.
if (presetFile !== undefined) checkPreset(presetFile);
// Vite and electron-builder resolve their paths from here.
process.chdir(root);
rmSync(outputFolder, { recursive: true, force: true });

// A forge passes a secret that is not set as an empty string, which electron-builder would take for the path of a
// certificate.
for (const [name, value] of Object.entries(process.env)) {
  if (value === '' && /^(CSC|WIN_CSC|APPLE)_/.test(name)) delete process.env[name];
}

const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
const packages = [...(await buildProgram()), ...packagesBesideBundle(root, Object.keys(lock.packages))].sort();
// Electron ships its own notices beside the program.
const noticed = packages.filter((path) => path !== 'node_modules/electron');
writeFileSync(join(root, 'dist/THIRD-PARTY-NOTICES.txt'), makeNotices(root, noticed));
await packageApp({
  systems: (['mac', 'win', 'linux'] as const).filter((system) => values[system]),
  processors: (['x64', 'arm64'] as const).filter((processor) => values[processor]),
  isFolderOnly: values.dir ?? false,
  outputFolder,
  updateUrl: process.env.SLUICE_UPDATE_URL,
  homepage: process.env.SLUICE_HOMEPAGE,
  presetFile,
});
const sbom = makeSbom(lock, packages);
writeFileSync(join(outputFolder, `Sluice-${lock.version}.cdx.json`), `${JSON.stringify(sbom, null, 2)}\n`);
await writeChecksums(outputFolder);

function checkPreset(path: string): void {
  try {
    readTeamPreset(readFileSync(path, 'utf8'), path);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}

async function buildProgram(): Promise<string[]> {
  const bundled = bundledPackages();
  const builder = await createBuilder({ logLevel: 'warn', plugins: [bundled.plugin] });
  await builder.buildApp();
  return bundled.paths();
}
