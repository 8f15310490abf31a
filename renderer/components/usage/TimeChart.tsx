import { useElementSize } from '@mantine/hooks';
import { type KeyboardEvent, type PointerEvent, useState } from 'react';
import classes from './TimeChart.module.css';
import { labelInterval, ticksUpTo } from './usage-figures.ts';

interface TimeChartProps {
  /**
   * `bars`: amounts that add up, the first at the bottom. `lines`: values that do not add up, such as a rate or a time.
   */
  kind: 'bars' | 'lines';
  /** The accessible name. */
  label: string;
  /** Label of the total, for bars. */
  sumLabel: string;
  /** The start of each step and the end of the last one, in Unix milliseconds. */
  edgesMs: readonly number[];
  series: readonly ChartSeries[];
  /** Whether the values are whole numbers. */
  isWhole: boolean;
  /** Label of a time on the axis. */
  tick(moment: number): string;
  /** Full label of a step. */
  span(startMs: number, endMs: number): string;
  format(value: number): string;
  /** Called when a step is chosen. */
  onOpen(startMs: number, endMs: number): void;
}

const height = 220;
const labelHeight = 22;
const axisWidth = 58;
const labelWidth = 84;

/**
 * A chart of values over time. Pointing at a step, or moving to it with the arrow keys, shows its values; a click or
 * Enter opens it.
 */
export function TimeChart(props: TimeChartProps) {
  const { kind, label, edgesMs, series, tick, format, onOpen } = props;
  const { ref, width: outerWidth } = useElementSize();
  const [chosen, setChosen] = useState<number | null>(null);
  const count = edgesMs.length - 1;
  const width = Math.max(0, outerWidth - axisWidth);
  const stepWidth = width / count;
  const ticks = ticksUpTo(highestOf(props), props.isWhole);
  const top = ticks.at(-1) ?? 1;
  const yOf = (value: number) => height - (value / top) * (height - 8);
  const at = chosen !== null && chosen < count ? chosen : null;
  const open = (index: number | null) => index !== null && onOpen(edgesMs[index] ?? 0, edgesMs[index + 1] ?? 0);
  const point = (event: PointerEvent) => {
    const { left } = event.currentTarget.getBoundingClientRect();
    const index = Math.floor((event.clientX - left - axisWidth) / stepWidth);
    setChosen(index >= 0 && index < count ? index : null);
  };
  const move = (event: KeyboardEvent) => {
    if (event.key === 'Enter') return open(at);
    const next = nextStep(event.key, at, count);
    if (next === undefined) return;
    event.preventDefault();
    setChosen(next);
  };
  const every = labelInterval(count, width, labelWidth);
  const Marks = kind === 'bars' ? BarMarks : LineMarks;
  return (
    <div className={classes.chart} data-chart={kind}>
      <div
        ref={ref}
        className={classes.plot}
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={1}
        aria-valuemax={count}
        aria-valuenow={(at ?? count - 1) + 1}
        aria-valuetext={describe(props, at ?? count - 1)}
        onPointerMove={point}
        onPointerLeave={() => setChosen(null)}
        onClick={() => open(at)}
        onKeyDown={move}
        onBlur={() => setChosen(null)}
      >
        {outerWidth > 0 && (
          <svg width={outerWidth} height={height + labelHeight} aria-hidden>
            {ticks.map((value) => (
              <g key={value} transform={`translate(0 ${yOf(value)})`}>
                <line x1={axisWidth} x2={outerWidth} className={classes.grid} />
                <text x={axisWidth - 8} dy="0.32em" className={classes.value}>
                  {format(value)}
                </text>
              </g>
            ))}
            {at !== null && (
              <rect x={axisWidth + at * stepWidth} width={stepWidth} height={height} className={classes.chosen} />
            )}
            <g transform={`translate(${axisWidth} 0)`}>
              <Marks series={series} stepWidth={stepWidth} yOf={yOf} />
              {edgesMs
                .slice(0, -1)
                .map(
                  (startMs, index) =>
                    index % every === 0 && (
                      <Moment key={startMs} x={(index + 0.5) * stepWidth} width={width} text={tick(startMs)} />
                    ),
                )}
            </g>
          </svg>
        )}
        {at !== null && <Tip {...props} at={at} isLeft={at > count / 2} />}
      </div>
      <ul className={classes.legend}>
        {series.map(({ id, label: name, color }) => (
          <li key={id} className={classes.legendItem}>
            <span className={classes.swatch} style={{ background: color }} aria-hidden />
            <span className={classes.legendName} title={name}>
              {name}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** A label on the axis, centred below its step, but kept within the chart at the right edge. */
function Moment({ x, width, text }: { x: number; width: number; text: string }) {
  const isAtEdge = x + labelWidth / 2 > width;
  return (
    <text
      x={isAtEdge ? width : x}
      y={height + 16}
      className={classes.moment}
      {...(isAtEdge && { style: { textAnchor: 'end' } })}
    >
      {text}
    </text>
  );
}

function nextStep(key: string, at: number | null, count: number): number | null | undefined {
  const last = count - 1;
  switch (key) {
    case 'ArrowLeft':
      return Math.max(0, (at ?? count) - 1);
    case 'ArrowRight':
      return Math.min(last, (at ?? last - 1) + 1);
    case 'Home':
      return 0;
    case 'End':
      return last;
    case 'Escape':
      return null;
    default:
      return undefined;
  }
}

function highestOf({ kind, series, edgesMs }: TimeChartProps): number {
  if (kind === 'lines') return Math.max(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0)));
  return Math.max(0, ...edgesMs.slice(0, -1).map((_, index) => sumAt(series, index)));
}

function sumAt(series: readonly ChartSeries[], at: number): number {
  return series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0);
}

/** The values of a step, from the top of the stack down, without empty ones. */
function rowsAt({ series, format }: TimeChartProps, at: number) {
  return series
    .map(({ id, label, color, values }) => ({ id, label, color, value: values[at] ?? null }))
    .filter(({ value }) => value !== null && value !== 0)
    .map((row) => ({ ...row, text: format(row.value ?? 0) }))
    .toReversed();
}

function spanAt({ edgesMs, span }: TimeChartProps, at: number): string {
  return span(edgesMs[at] ?? 0, edgesMs[at + 1] ?? 0);
}

function describe(props: TimeChartProps, at: number): string {
  const { kind, series, format } = props;
  const rows = rowsAt(props, at).map(({ label, text }) => `${label} ${text}`);
  const sum = kind === 'bars' ? [`${props.sumLabel} ${format(sumAt(series, at))}`] : [];
  return [spanAt(props, at), ...sum, ...rows].join(', ');
}

function Tip(props: TimeChartProps & { at: number; isLeft: boolean }) {
  const { kind, series, format, sumLabel, at, isLeft } = props;
  const rows = rowsAt(props, at);
  return (
    <div className={classes.tip} data-is-left={isLeft || undefined} aria-hidden>
      <div className={classes.tipTitle}>{spanAt(props, at)}</div>
      {rows.map(({ id, label, color, text }) => (
        <div key={id} className={classes.tipRow}>
          <span className={classes.swatch} style={{ background: color }} />
          <span className={classes.tipName}>{label}</span>
          <span>{text}</span>
        </div>
      ))}
      {kind === 'bars' && (
        <div className={`${classes.tipRow} ${classes.tipSum}`}>
          <span className={classes.tipName}>{sumLabel}</span>
          <span>{format(sumAt(series, at))}</span>
        </div>
      )}
    </div>
  );
}

export interface ChartSeries {
  id: string;
  label: string;
  /** A CSS colour. */
  color: string;
  /** One per step; null if unknown. */
  values: readonly (number | null)[];
}

interface MarksProps {
  series: readonly ChartSeries[];
  /** In pixels. */
  stepWidth: number;
  /** Maps a value to pixels from the top. */
  yOf(value: number): number;
}

const widestBar = 24;

/** Stacked bars, the first series at the bottom. */
function BarMarks({ series, stepWidth, yOf }: MarksProps) {
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
function LineMarks({ series, stepWidth, yOf }: MarksProps) {
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
