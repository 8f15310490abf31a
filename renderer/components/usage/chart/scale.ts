/** The vertical axis of a chart. Pure. */

const steps = [1, 2, 2.5, 5, 10];

/** Two to six round values from zero to the first at or above `max`. `isWhole`: only whole numbers. */
export function ticksUpTo(max: number, isWhole = false): number[] {
  if (!(max > 0)) return [0, 1];
  const rough = isWhole ? Math.max(1, max / 4) : max / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = (steps.find((each) => each * power >= rough && !(isWhole && (each * power) % 1 !== 0)) ?? 10) * power;
  const count = Math.ceil(max / step - 1e-9);
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}

/** The interval of labels on the horizontal axis, in steps, at which labels of `labelWidth` pixels do not overlap. */
export function labelInterval(stepCount: number, width: number, labelWidth: number): number {
  const fitting = Math.max(1, Math.floor(width / labelWidth));
  return Math.max(1, Math.ceil(stepCount / fitting));
}
