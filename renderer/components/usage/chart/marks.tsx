import type { ChartSeries } from './chart-series.ts';

interface MarksProps {
  series: readonly ChartSeries[];
  /** In pixels. */
  stepWidth: number;
  /** Maps a value to pixels from the top. */
  yOf(value: number): number;
}

const widestBar = 24;

/** Stacked bars, the first series at the bottom. */
export function BarMarks({ series, stepWidth, yOf }: MarksProps) {
  const width = Math.max(1, Math.min(widestBar, stepWidth * 0.8));
  const inset = (stepWidth - width) / 2;
  const reached: number[] = [];
  return series.map(({ id, color, values }) => (
    <g key={id} fill={color}>
      {values.map((value, index) => {
        if (!value) return null;
        const from = reached[index] ?? 0;
        reached[index] = from + value;
        const y = yOf(from + value);
        const x = index * stepWidth + inset;
        return <rect key={x} x={x} y={y} width={width} height={yOf(from) - y} />;
      })}
    </g>
  ));
}

/** Lines with gaps at unknown values. Each value has a dot, because it may have no neighbours. */
export function LineMarks({ series, stepWidth, yOf }: MarksProps) {
  return series.map(({ id, color, values }) => {
    const points = values.map((value, index) =>
      value === null ? null : { x: (index + 0.5) * stepWidth, y: yOf(value) },
    );
    const path = points
      .map((point, index) => point && `${points[index - 1] ? 'L' : 'M'}${point.x} ${point.y}`)
      .filter((part) => part !== null)
      .join('');
    return (
      <g key={id} data-line={id}>
        <path d={path} fill="none" stroke={color} strokeWidth={2} />
        {points.map((point) => point && <circle key={point.x} cx={point.x} cy={point.y} r={2} fill={color} />)}
      </g>
    );
  });
}
