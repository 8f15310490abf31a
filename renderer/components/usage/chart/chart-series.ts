export interface ChartSeries {
  id: string;
  label: string;
  /** A CSS colour. */
  color: string;
  /** One per step; null if unknown. */
  values: readonly (number | null)[];
}
