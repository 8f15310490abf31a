/** The recently used entries, kept in the browser's storage. If storage is unavailable, none are remembered. */
const storageName = 'sluice.palette-recent';
const mostRemembered = 5;

/** Their ids, most recent first. */
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
    // Storage may be unavailable in a private window.
  }
}
