/** The Homebrew cask of a release, after https://docs.brew.sh/Cask-Cookbook. A person puts it into a tap. */
import { installerName, type ReleaseFacts } from './installers.ts';

export const caskName = 'sluice.rb';

export function makeCask({ version, homepage, sha256Of }: ReleaseFacts): string {
  const dmg = (processor: 'x64' | 'arm64') => installerName(version, { system: 'mac', processor, extension: 'dmg' });
  // Ruby puts the version and the processor into the address, so that a new version changes two lines.
  const file = dmg('x64').replace(version, '#{version}').replace('x64', '#{arch}');
  return `cask "sluice" do
  arch arm: "arm64", intel: "x64"

  version "${version}"
  sha256 arm:   "${sha256Of(dmg('arm64'))}",
         intel: "${sha256Of(dmg('x64'))}"

  url "${homepage}/releases/download/v#{version}/${file}"
  name "Sluice"
  desc "Gateway on localhost that serves AI tools from any provider"
  homepage "${homepage}"

  livecheck do
    url :url
    strategy :github_latest
  end

  auto_updates true
  depends_on macos: :ventura

  app "Sluice.app"

  uninstall quit: "dev.sluice.desktop"

  zap trash: [
    "~/Library/Application Support/sluice",
    "~/Library/Logs/Sluice",
    "~/Library/Preferences/dev.sluice.desktop.plist",
  ]
end
`;
}
