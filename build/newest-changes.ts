/** The newest section of a changelog, whose sections begin with the version: `## 1.2.3`. */

/** Without its heading. */
export function newestChanges(changelog: string): string {
  const [, newest = ''] = changelog.split(/^## .*$/m);
  return newest.trim();
}

/** The version, or `Unreleased`. A date may follow it. */
export function newestHeading(changelog: string): string | undefined {
  return /^## \[?([^\s\]]+)/m.exec(changelog)?.[1];
}
