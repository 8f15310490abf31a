/** Runs electron-builder on what is built in `dist/`, with what depends on the environment or on a test. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type CliOptions, type Configuration } from 'electron-builder';
import { readTeamPreset } from '../server/config/read-team-preset.ts';
import { newestChanges } from './newest-changes.ts';

interface PackageOptions {
  /** As electron-builder's command line names them; without any, the system it runs on. */
  systems: readonly ('mac' | 'win' | 'linux')[];
  /** Only the program's folder, without installers. */
  isFolderOnly: boolean;
  outputFolder: string;
  /** Where installed programs look for updates; without it they do not. */
  updateUrl?: string | undefined;
  /** What deb and rpm name as the program's; without it electron-builder asks git for a GitHub origin, or refuses. */
  homepage?: string | undefined;
  /** A team preset that the program applies by itself at its first start. */
  presetFile?: string | undefined;
  /**
   * For tests, which have no Electron: a folder in place of its files. Fuses are left out, being set in a binary that this
   * is none of, and native modules stay as they are, since building them for Electron loads its headers.
   */
  standInForElectron?: string;
}

const root = join(import.meta.dirname, '..');

/** Rejects before anything is packed if the preset cannot be used. */
export async function packageApp({ systems, isFolderOnly, presetFile, ...options }: PackageOptions): Promise<void> {
  const config = configFor(options);
  const presetFolder = join(options.outputFolder, '.preset');
  const cli: CliOptions = {
    projectDir: root,
    config: presetFile === undefined ? config : withPreset(config, presetFile, presetFolder),
    dir: isFolderOnly,
    publish: 'never',
    ...Object.fromEntries(systems.map((system) => [system, []])),
  };
  await build(cli);
  rmSync(presetFolder, { recursive: true, force: true });
}

/** Checked as the program checks it, and inside the archive, which Electron verifies. */
function withPreset(config: Configuration, presetFile: string, folder: string): Configuration {
  const preset = readTeamPreset(readFileSync(presetFile, 'utf8'), presetFile);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'team-preset.json'), `${JSON.stringify(preset, null, 2)}\n`);
  return { ...config, files: [config.files ?? [], { from: folder, to: 'dist' }].flat() };
}

/** The configuration of electron-builder. */
export function configFor(options: Omit<PackageOptions, 'systems' | 'isFolderOnly' | 'presetFile'>): Configuration {
  const config: Configuration = JSON.parse(readFileSync(join(root, 'build/electron-builder.json'), 'utf8'));
  const { outputFolder, updateUrl, homepage, standInForElectron } = options;
  return {
    ...config,
    directories: { ...config.directories, output: outputFolder },
    ...(homepage ? { extraMetadata: { ...config.extraMetadata, homepage } } : {}),
    ...(updateUrl
      ? {
          publish: { provider: 'generic', url: updateUrl },
          releaseInfo: { releaseNotes: newestChanges(readFileSync(join(root, 'CHANGELOG.md'), 'utf8')) },
        }
      : {}),
    ...(standInForElectron ? { electronDist: standInForElectron, electronFuses: null, npmRebuild: false } : {}),
  };
}
