/**
 * The winget manifests of a release: three files, as in https://learn.microsoft.com/windows/package-manager/package/manifest.
 * A person proposes them to microsoft/winget-pkgs.
 */
import { stringify } from 'yaml';
import { installerName, processors, type ReleaseFacts } from './installers.ts';

const identifier = 'Sluice.Sluice';
const schemaVersion = '1.12.0';

/** By file name. */
export function makeWingetManifests(facts: ReleaseFacts): Record<string, string> {
  return {
    [`${identifier}.yaml`]: manifest('version', facts, { DefaultLocale: 'en-US' }),
    [`${identifier}.installer.yaml`]: manifest('installer', facts, describeInstallers(facts)),
    [`${identifier}.locale.en-US.yaml`]: manifest('defaultLocale', facts, describeProgram(facts)),
  };
}

function manifest(type: 'version' | 'installer' | 'defaultLocale', { version }: ReleaseFacts, fields: object): string {
  const schema = `https://aka.ms/winget-manifest.${type}.${schemaVersion}.schema.json`;
  const content = {
    PackageIdentifier: identifier,
    PackageVersion: version,
    ...fields,
    ManifestType: type,
    ManifestVersion: schemaVersion,
  };
  return `# yaml-language-server: $schema=${schema}\n\n${stringify(content, { lineWidth: 0 })}`;
}

/** Each installer twice, since it installs for one person or for all of them, as its switch says. */
function describeInstallers({ version, homepage, sha256Of }: ReleaseFacts): object {
  const scopes = [
    { Scope: 'user', InstallerSwitches: { Custom: '/currentuser' } },
    { Scope: 'machine', InstallerSwitches: { Custom: '/allusers' } },
  ];
  return {
    InstallerType: 'nullsoft',
    InstallModes: ['interactive', 'silent', 'silentWithProgress'],
    UpgradeBehavior: 'install',
    Protocols: ['sluice'],
    Installers: processors.flatMap((processor) => {
      const name = installerName(version, { system: 'win', processor, extension: 'exe' });
      return scopes.map((scope) => ({
        Architecture: processor,
        ...scope,
        InstallerUrl: `${homepage}/releases/download/v${version}/${name}`,
        InstallerSha256: sha256Of(name).toUpperCase(),
      }));
    }),
  };
}

function describeProgram({ version, homepage }: ReleaseFacts): object {
  return {
    PackageLocale: 'en-US',
    Publisher: 'The Sluice authors',
    PublisherUrl: homepage,
    PackageName: 'Sluice',
    PackageUrl: homepage,
    License: 'MIT',
    LicenseUrl: `${homepage}/blob/v${version}/LICENSE`,
    ShortDescription: 'A gateway on localhost that serves your AI tools from any provider.',
    Moniker: 'sluice',
    Tags: ['ai', 'api', 'anthropic', 'gateway', 'gemini', 'llm', 'openai', 'proxy'],
    ReleaseNotesUrl: `${homepage}/releases/tag/v${version}`,
  };
}
