import type { CassetteSummary } from '../cassettes/deck.ts';
import type { CassetteMode } from '../contract/cassette.ts';
import { counted } from '../contract/counted.ts';

const maxNamed = 10;

/** A few lines for a person. */
export function describeSummary(summary: CassetteSummary, mode: CassetteMode, folder: string): string {
  const { hits, misses, recorded, unrecorded, failed, unused } = summary;
  const counts = [
    ...(mode === 'record' ? [] : [`${hits} replayed`]),
    ...(mode === 'replay' ? [`${misses} without a recording`] : [`${recorded} recorded`]),
    ...(unrecorded > 0 ? [`${unrecorded} not recorded, as Sluice refused them or their answer is too large`] : []),
    ...(failed > 0 ? [`${failed} could not be written`] : []),
  ];
  const lines = [`Cassette ${folder}: ${counts.join(', ')}.`];
  if (unused.length > 0) lines.push(`${counted(unused.length, 'recording')} not asked for: ${namesOf(unused)}.`);
  return lines.join('\n');
}

function namesOf(names: readonly string[]): string {
  const shown = names.slice(0, maxNamed).join(', ');
  return names.length > maxNamed ? `${shown} and ${names.length - maxNamed} more` : shown;
}
