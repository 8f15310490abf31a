/** The form of a setting's value, as far as forms need it. Taken from the schema by `build/setting-shapes.ts`. */

/** A bound of null is none. */
export interface NumberShape {
  kind: 'number';
  isWhole: boolean;
  min: number | null;
  /** The value must be greater than this. */
  above: number | null;
  max: number | null;
  /** It can be null, for none. */
  isOptional: boolean;
}

export type SettingShape =
  | NumberShape
  | { kind: 'choice'; values: readonly string[] }
  | { kind: 'switch' }
  | { kind: 'text'; minLength: number; isOptional: boolean }
  | { kind: 'texts' }
  /** Objects and lists of them. */
  | { kind: 'structure' };

/** Whether a number, as stored, is within the bounds. */
export function isWithin({ isWhole, min, above, max }: NumberShape, value: number): boolean {
  return (
    Number.isFinite(value) &&
    (!isWhole || Number.isSafeInteger(value)) &&
    (min === null || value >= min) &&
    (above === null || value > above) &&
    (max === null || value <= max)
  );
}
