/** The sections of the Settings screen in their order, as addresses name them: `/settings?section=prices`. */
export const sectionIds = [
  'window',
  'desktop',
  'address',
  'network',
  'access',
  'sessions',
  'serving',
  'records',
  'prices',
  'observability',
  'team',
  'transfer',
  'about',
] as const;

export type SectionId = (typeof sectionIds)[number];

/** Null if there is no such section. */
export function sectionOf(name: string | null): SectionId | null {
  return sectionIds.find((id) => id === name) ?? null;
}
