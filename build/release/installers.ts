/** The files of a release, by the names that electron-builder gives them (`artifactName` in `build/electron-builder.json`). */

export type Processor = 'x64' | 'arm64';
export const processors: readonly Processor[] = ['x64', 'arm64'];

interface Installer {
  system: 'mac' | 'win' | 'linux';
  processor: Processor;
  extension: string;
}

export interface ReleaseFacts {
  version: string;
  /** The address of the repository, whose releases have the installers. */
  homepage: string;
  /** In hexadecimal. */
  sha256Of(fileName: string): string;
}

const extensions: Record<Installer['system'], readonly string[]> = {
  mac: ['dmg', 'zip'],
  win: ['exe'],
  linux: ['AppImage', 'deb', 'rpm', 'tar.gz'],
};

/** What the kinds of package for Linux call a processor, where it is not what Node calls it. */
const processorWords: Record<string, Partial<Record<Processor, string>>> = {
  AppImage: { x64: 'x86_64' },
  deb: { x64: 'amd64' },
  rpm: { x64: 'x86_64', arm64: 'aarch64' },
};

/** Where installed programs look for updates: electron-builder writes one for Linux's processors each. */
export const feedNames = ['latest.yml', 'latest-mac.yml', 'latest-linux.yml', 'latest-linux-arm64.yml'];

export function installerName(version: string, { system, processor, extension }: Installer): string {
  return `Sluice-${version}-${system}-${processorWords[extension]?.[processor] ?? processor}.${extension}`;
}

export function sbomName(version: string): string {
  return `Sluice-${version}.cdx.json`;
}

/** All that the jobs of a release make. Block maps come with some of them, and are not counted. */
export function builtNames(version: string): string[] {
  const installers = (['mac', 'win', 'linux'] as const).flatMap((system) =>
    processors.flatMap((processor) =>
      extensions[system].map((extension) => installerName(version, { system, processor, extension })),
    ),
  );
  return [...installers, ...feedNames, sbomName(version)];
}
