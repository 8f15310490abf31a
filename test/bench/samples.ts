import type { GatewayName } from './launches.ts';

/** `identity` and `translated` are the two modes of one Sluice that the phase `translated` compares. */
export type Column = GatewayName | 'direct' | 'identity' | 'translated';

/** One value per round, by figure and column. */
type Values = Record<string, Partial<Record<Column, number[]>>>;

/** The measurements so far. */
export class Samples {
  readonly values: Values = {};
  readonly errors: Partial<Record<Column, number>> = {};

  add(figure: string, column: Column, value: number): void {
    this.values[figure] ??= {};
    this.values[figure][column] ??= [];
    this.values[figure][column].push(value);
  }

  addErrors(column: Column, count: number): void {
    if (count > 0) this.errors[column] = (this.errors[column] ?? 0) + count;
  }
}

/** The value below which the fraction `share` of the values lies; NaN if there are none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const [below, above] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  if (below === undefined || above === undefined) return Number.NaN;
  return below + (above - below) * (place % 1);
}

export const median = (values: readonly number[]) => quantile(values, 0.5);
