/** Tells what is wrong in a configuration, and where. */
export type TellIssue = (path: PropertyKey[], message: string) => void;

/** Known by an id; an alias by its name. */
type Named = { id: string } | { name: string };

/** Tells of each in the list at `path` whose id or name was there before. */
export function findDoubles(list: readonly Named[], path: PropertyKey[], issue: TellIssue): void {
  const seen = new Set<string>();
  list.forEach((each, index) => {
    const name = 'id' in each ? each.id : each.name;
    if (seen.has(name)) issue([...path, index], `"${name}" is there twice`);
    seen.add(name);
  });
}
