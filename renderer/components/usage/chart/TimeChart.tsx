import { useElementSize } from '@mantine/hooks';
import { type KeyboardEvent, type PointerEvent, useState } from 'react';
import type { ChartSeries } from './chart-series.ts';
import { BarMarks, LineMarks } from './marks.tsx';
import { labelInterval, ticksUpTo } from './scale.ts';
import classes from './TimeChart.module.css';

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
