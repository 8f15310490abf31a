/** Finds settings by what is typed into the search box. Pure. */

export interface SearchableSection {
  id: string;
  title: string;
  /** What else people look for. */
  words: string;
  rows: { name: string; text: string }[];
}

export interface FoundSettings {
  /** Nothing was typed, so that everything is found. */
  isAll: boolean;
  hasSection(id: string): boolean;
  hasRow(section: string, row: string): boolean;
}

/**
 * Every word must stand in the title of a section and the text of one of its rows; else in the title and the other words of a
 * section, which is then found as a whole.
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
