/** An entry of the palette: how those that match a search are found and ordered, and which were used recently. */
import type { Icon } from '@tabler/icons-react';
import type { Messages } from '../../messages/en/en.ts';

export type SectionName = keyof Messages['palette']['sections'];

export interface PaletteEntry {
  /** Stable, so that the entry is recognised as recent. Contains no secret. */
  id: string;
  section: SectionName;
  label: string;
  /** Shown beside the label, to distinguish similar entries. */
  detail?: string | null;
  /** Other words by which it is found. */
  words?: string;
  /** For a secondary entry of something else that is listed: the words of what it does. Found only by one of them. */
  action?: string;
  Icon: Icon;
  /** Why it cannot be run now; null if it can. */
  blocked?: string | null;
  act: PaletteAct;
}

type PaletteAct =
  /** Navigates after the palette has closed. */
  | { href: string }
  /** Runs at once, after the palette has closed. */
  | { run(): void }
  /** The palette stays open until the promise resolves with a message to announce. Rejects with a `ControlError`. */
  | { work(): Promise<string> };

export interface PaletteSection {
  name: SectionName;
  entries: PaletteEntry[];
}

const shownAtFirst: readonly SectionName[] = ['screens', 'actions'];
/** More of one kind are found by typing more. */
export const mostInSection = 9;

/** Before anything is typed: recent entries, then the ones always available. */
export function firstEntries(entries: readonly PaletteEntry[], recentIds: readonly string[]): PaletteSection[] {
  const recent = recentIds.flatMap((id) => entries.find((entry) => entry.id === id) ?? []);
  const others = shownAtFirst.map((name) => ({
    name,
    // All screens, since there is no other list of them.
    entries: entries
      .filter((entry) => entry.section === name && !recent.includes(entry))
      .slice(0, name === 'screens' ? undefined : mostInSection),
  }));
  return [{ name: 'recent' as const, entries: recent }, ...others].filter((section) => section.entries.length > 0);
}

/**
 * Entries that match every word of `search`: sections and the entries in them by score, recent entries first among
 * equals.
 */
export function findEntries(
  entries: readonly PaletteEntry[],
  search: string,
  recentIds: readonly string[],
): PaletteSection[] {
  const searchWords = wordsOf(search);
  const named = entries.filter(({ action }) => action === undefined || namesAction(action, searchWords));
  const scored = named.flatMap((entry) => {
    const score = scoreOf(entry, searchWords);
    return score === null ? [] : [{ entry, score: score + (recentIds.includes(entry.id) ? recentBonus : 0) }];
  });
  scored.sort((one, other) => isSecondary(one.entry) - isSecondary(other.entry) || other.score - one.score);
  const sections = Map.groupBy(scored, ({ entry }) => entry.section);
  return [...sections].map(([name, list]) => ({
    name,
    entries: list.slice(0, mostInSection).map(({ entry }) => entry),
  }));
}

const isSecondary = ({ action }: PaletteEntry) => Number(action !== undefined);

/** Whether one of the words begins a word of the action. */
function namesAction(action: string, searchWords: readonly string[]): boolean {
  const actionWords = wordsOf(action);
  return searchWords.some((word) => actionWords.some((each) => each.startsWith(word)));
}

/** Less than the difference between any two scores. */
const recentBonus = 0.5;
const scores = { wholeWord: 7, beginning: 6, inLabel: 4, letters: 3, besides: 2, withinBesides: 1 };

/** Null if a word is not found. */
function scoreOf({ label, detail, words = '' }: PaletteEntry, searchWords: readonly string[]): number | null {
  const labelWords = wordsOf(label);
  const otherText = `${detail ?? ''} ${words}`.toLowerCase();
  let total = 0;
  for (const word of searchWords) {
    const score = scoreOfWord(word, labelWords, label.toLowerCase()) ?? scoreBesides(word, otherText);
    if (score === null) return null;
    total += score;
  }
  return total;
}

/** `currency` begins a word of what is about money, and is only within the `concurrency` of another entry. */
function scoreBesides(word: string, otherText: string): number | null {
  if (!otherText.includes(word)) return null;
  return wordsOf(otherText).some((each) => each.startsWith(word)) ? scores.besides : scores.withinBesides;
}

function scoreOfWord(word: string, labelWords: readonly string[], label: string): number | null {
  if (labelWords.includes(word)) return scores.wholeWord;
  if (labelWords.some((each) => each.startsWith(word))) return scores.beginning;
  if (label.includes(word)) return scores.inLabel;
  return labelWords.some((each) => hasLetters(each, word)) ? scores.letters : null;
}

/** Whether the letters of `part` occur in `word` in this order, with the same first letter: `prvdr` in `providers`. */
function hasLetters(word: string, part: string): boolean {
  if (part.length < 3 || word[0] !== part[0]) return false;
  let from = 0;
  for (const letter of part) {
    from = word.indexOf(letter, from) + 1;
    if (from === 0) return false;
  }
  return true;
}

function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[\s…“”:：·]+/)
    .filter((word) => word !== '');
}

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
