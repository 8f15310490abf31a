/**
 * The software bill of materials of a release, in CycloneDX 1.6. It contains no time or serial number, so the same
 * release gives the same file.
 */

interface LockFile {
  name: string;
  version: string;
  packages: Record<string, LockedPackage>;
}

interface LockedPackage {
  version?: string;
  license?: string;
  integrity?: string;
}

/** @param paths of the packages in the release, as in the lock file, whether bundled or shipped beside the program */
export function makeSbom({ name, version, packages }: LockFile, paths: readonly string[]): object {
  const root = { type: 'application', 'bom-ref': purlOf(name, version), name, version };
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { ...root, ...licenseOf(packages['']?.license) } },
    components: paths.map((path) => describe(path, packages[path])),
  };
}

/** One for the installers of all systems, of which each may have native modules of its own. */
export function mergeSboms(texts: readonly string[]): string {
  const [first, ...others]: { components: { 'bom-ref': string }[] }[] = texts.map((text) => JSON.parse(text));
  const components = new Map(
    [first, ...others].flatMap((sbom) => sbom?.components ?? []).map((component) => [component['bom-ref'], component]),
  );
  const sorted = [...components.values()].sort((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1));
  return `${JSON.stringify({ ...first, components: sorted }, null, 2)}\n`;
}

function describe(path: string, locked: LockedPackage | undefined): object {
  if (!locked?.version) throw new Error(`${path} is in the release and not in the lock file`);
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const purl = purlOf(name, locked.version);
  return {
    type: name === 'electron' ? 'framework' : 'library',
    'bom-ref': `${purl}#${path}`,
    name,
    version: locked.version,
    purl,
    ...licenseOf(locked.license),
    ...hashOf(locked.integrity),
  };
}

function purlOf(name: string, version: string): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

/** An SPDX identifier, or an expression of several. */
function licenseOf(license: string | undefined): object {
  if (!license) return {};
  return { licenses: license.includes(' ') ? [{ expression: license }] : [{ license: { id: license } }] };
}

function hashOf(integrity: string | undefined): object {
  const [, base64] = /^sha512-(\S+)$/.exec(integrity ?? '') ?? [];
  if (!base64) return {};
  return { hashes: [{ alg: 'SHA-512', content: Buffer.from(base64, 'base64').toString('hex') }] };
}
