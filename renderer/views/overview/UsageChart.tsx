import '@mantine/charts/styles.css';
import { BarChart, LineChart } from '@mantine/charts';
import { useLocalization } from '../../messages/use-messages.ts';
import type { ChartRow, LineRow } from './usage-figures.ts';

const height = 250;
const colors = ['water.6', 'orange.5', 'violet.5', 'lime.7', 'pink.5'];

interface TimeAxis {
  /** What a moment is called at the axis. */
  tick(startMs: number): string;
  format(value: number): string;
}

export interface AmountChartProps extends TimeAxis {
  rows: ChartRow[];
  /** In the order of the rows' series. */
  labels: readonly string[];
}

/** An amount over time, told apart by name. */
export function AmountChart({ rows, labels, tick, format }: AmountChartProps) {
  const { overview } = useLocalization().messages;
  const series = labels.map((label, at) => ({ name: `s${at}`, label, color: colors[at] ?? 'gray.5' }));
  const hasOthers = rows.some(({ others }) => others > 1e-9);
  return (
    <BarChart
      h={height}
      data={rows}
      dataKey="startMs"
      type="stacked"
      series={hasOthers ? [...series, { name: 'others', label: overview.others, color: 'gray.5' }] : series}
      valueFormatter={format}
      withLegend
      maxBarWidth={24}
      barProps={{ isAnimationActive: false }}
      {...commonProps(tick)}
    />
  );
}

interface LinesChartProps extends TimeAxis {
  rows: LineRow[];
  /** In the order of the rows' series. */
  labels: readonly string[];
  /** What the series after those is called, which is of all together. */
  all?: string;
}

/** What does not add up, such as a rate or a time; a gap where there was no request. */
export function LinesChart({ rows, labels, all, tick, format }: LinesChartProps) {
  const series = labels.map((label, at) => ({ name: `s${at}`, label, color: colors[at] ?? 'gray.5' }));
  return (
    <LineChart
      h={height}
      data={rows}
      dataKey="startMs"
      series={all === undefined ? series : [...series, { name: `s${labels.length}`, label: all, color: 'gray.5' }]}
      valueFormatter={format}
      withLegend
      curveType="linear"
      connectNulls={false}
      dotProps={{ r: 2 }}
      lineProps={{ isAnimationActive: false }}
      {...commonProps(tick)}
    />
  );
}

function commonProps(tick: TimeAxis['tick']) {
  return {
    tickLine: 'none' as const,
    xAxisProps: { tickFormatter: tick, minTickGap: 32 },
    yAxisProps: { width: 64, allowDecimals: true },
    // Also asked while the pointer is nowhere.
    tooltipProps: { labelFormatter: (startMs: unknown) => (typeof startMs === 'number' ? tick(startMs) : '') },
    legendProps: { verticalAlign: 'bottom' as const },
  };
}
