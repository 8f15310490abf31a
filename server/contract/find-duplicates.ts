/** Reports a problem in a configuration and its location. */
export type ReportIssue = (path: PropertyKey[], message: string) => void;

type Named = { id: string } | { name: string };

/** Reports entries of the list at `path` whose id or name occurs more than once. */
export function findDuplicates(list: readonly Named[], path: PropertyKey[], issue: ReportIssue): void {
  const seen = new Set<string>();
  list.forEach((each, index) => {
    const name = 'id' in each ? each.id : each.name;
    if (seen.has(name)) issue([...path, index], `"${name}" is there twice`);
    seen.add(name);
  });
}
