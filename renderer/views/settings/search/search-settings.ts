/** Finds settings by the text typed into the search box. Pure. */

export interface SearchableSection {
  id: string;
  title: string;
  /** Other words that people search for. */
  words: string;
  /** `text`: the label and everything else by which it is found. */
  rows: { name: string; label: string; text: string }[];
}

export interface FoundSettings {
  /** Nothing was typed, so everything is found. */
  isAll: boolean;
  hasSection(id: string): boolean;
  hasRow(section: string, row: string): boolean;
}

/**
 * Finds a row if each word occurs in its text or in the title of its section. A section without such rows is found as a
 * whole if each word occurs in its title or its other words.
 */
export function searchSettings(sections: readonly SearchableSection[], query: string): FoundSettings {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return { isAll: true, hasSection: () => true, hasRow: () => true };
  const isIn = (text: string) => words.every((word) => text.toLowerCase().includes(word));
  const found = new Map<string, Set<string>>();
  for (const { id, title, words: others, rows } of sections) {
    const matching = rows.filter(({ text }) => isIn(`${title} ${text}`));
    if (matching.length === 0 && !isIn(`${title} ${others}`)) continue;
    found.set(id, new Set((matching.length > 0 ? matching : rows).map(({ name }) => name)));
  }
  return {
    isAll: false,
    hasSection: (id) => found.has(id),
    hasRow: (section, row) => found.get(section)?.has(row) ?? false,
  };
}
