/** What the newest section of a changelog says, without the section's own heading. */
export function newestChanges(changelog: string): string {
  const [, newest = ''] = changelog.split(/^## .*$/m);
  return newest.trim();
}
