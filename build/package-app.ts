/** Runs electron-builder on what is built in `dist/`, with what depends on the environment or on a test. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type CliOptions, type Configuration } from 'electron-builder';

export interface PackageOptions {
  /** As electron-builder's command line names them; without any, the system it runs on. */
  systems: readonly ('mac' | 'win' | 'linux')[];
  /** Only the program's folder, without installers. */
  isFolderOnly: boolean;
  outputFolder: string;
  /** Where installed programs look for updates; without it they do not. */
  updateUrl?: string | undefined;
  /** What deb and rpm name as the program's; without it electron-builder asks git for a GitHub origin, or refuses. */
  homepage?: string | undefined;
  /**
   * For tests, which have no Electron: a folder in place of its files. Fuses are left out, being set in a binary that this
   * is none of, and native modules stay as they are, since building them for Electron loads its headers.
   */
  standInForElectron?: string;
}

const root = join(import.meta.dirname, '..');

export async function packageApp({ systems, isFolderOnly, ...options }: PackageOptions): Promise<void> {
  const cli: CliOptions = {
    projectDir: root,
    config: configFor(options),
    dir: isFolderOnly,
    publish: 'never',
    ...Object.fromEntries(systems.map((system) => [system, []])),
  };
  await build(cli);
}

function configFor(options: Omit<PackageOptions, 'systems' | 'isFolderOnly'>): Configuration {
  const config: Configuration = JSON.parse(readFileSync(join(root, 'build/electron-builder.json'), 'utf8'));
  const { outputFolder, updateUrl, homepage, standInForElectron } = options;
  return {
    ...config,
    directories: { ...config.directories, output: outputFolder },
    ...(homepage ? { extraMetadata: { ...config.extraMetadata, homepage } } : {}),
    ...(updateUrl ? { publish: { provider: 'generic', url: updateUrl } } : {}),
    ...(standInForElectron ? { electronDist: standInForElectron, electronFuses: null, npmRebuild: false } : {}),
  };
}
