/** Returns the newest section of a changelog, without its heading. */
export function newestChanges(changelog: string): string {
  const [, newest = ''] = changelog.split(/^## .*$/m);
  return newest.trim();
}
