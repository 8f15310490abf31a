/** Runs electron-builder on the build in `dist/`, with settings from the environment or a test. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type CliOptions, type Configuration } from 'electron-builder';
import { readTeamPreset } from '../server/config/read-team-preset.ts';
import { newestChanges } from './newest-changes.ts';

interface PackageOptions {
  /** As in electron-builder's command line; empty for the current system. */
  systems: readonly ('mac' | 'win' | 'linux')[];
  /** If absent, this machine's, for which npm has installed the native modules. */
  processors?: readonly ('x64' | 'arm64')[];
  /** Only creates the program's folder, without installers. */
  isFolderOnly: boolean;
  outputFolder: string;
  /** Where installed programs look for updates. If absent, they do not. */
  updateUrl?: string | undefined;
  /**
   * The program's home page in deb and rpm packages. If absent, electron-builder derives it from a GitHub origin in
   * git, or fails.
   */
  homepage?: string | undefined;
  /** A team preset that the program applies at its first start. */
  presetFile?: string | undefined;
  /**
   * For tests, which have no Electron: a folder to use instead of its files. Fuses are not set, because they are part
   * of the real binary. Native modules are not rebuilt, because that downloads Electron's headers.
   */
  standInForElectron?: string;
}

const root = join(import.meta.dirname, '..');

/** Rejects before packing if the preset cannot be used. */
export async function packageApp({ systems, processors = [], ...options }: PackageOptions): Promise<void> {
  const { isFolderOnly, presetFile } = options;
  const config = configFor(options);
  const presetFolder = join(options.outputFolder, '.preset');
  const cli: CliOptions = {
    projectDir: root,
    config: presetFile === undefined ? config : withPreset(config, presetFile, presetFolder),
    dir: isFolderOnly,
    publish: 'never',
    ...Object.fromEntries([...systems.map((system) => [system, []]), ...processors.map((each) => [each, true])]),
  };
  await build(cli);
  rmSync(presetFolder, { recursive: true, force: true });
}

/** Validated in the same way as by the program, and put inside the archive, whose integrity Electron verifies. */
function withPreset(config: Configuration, presetFile: string, folder: string): Configuration {
  const { preset } = readTeamPreset(readFileSync(presetFile, 'utf8'), presetFile);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'team-preset.json'), `${JSON.stringify(preset, null, 2)}\n`);
  return { ...config, files: [config.files ?? [], { from: folder, to: 'dist' }].flat() };
}

/** The configuration for electron-builder. */
export function configFor(
  options: Omit<PackageOptions, 'systems' | 'processors' | 'isFolderOnly' | 'presetFile'>,
): Configuration {
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
