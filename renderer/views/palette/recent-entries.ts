/** Which entries were used last, in the browser's own storage. Where that is refused, none is remembered. */
const storageName = 'sluice.palette-recent';
const mostRemembered = 5;

/** Their ids, the last one first. */
export function recentEntries(): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageName) ?? '[]');
    return Array.isArray(stored) ? stored.filter((id) => typeof id === 'string') : [];
  } catch {
    return [];
  }
}

export function rememberEntry(id: string): void {
  const ids = [id, ...recentEntries().filter((each) => each !== id)].slice(0, mostRemembered);
  try {
    localStorage.setItem(storageName, JSON.stringify(ids));
  } catch {
    // A private window may refuse.
  }
}
