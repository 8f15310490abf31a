export interface ChartSeries {
  id: string;
  label: string;
  /** A CSS colour. */
  color: string;
  /** One for each step; null where there is nothing to tell. */
  values: readonly (number | null)[];
}
