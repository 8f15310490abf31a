import '@mantine/charts/styles.css';
import { BarChart, LineChart } from '@mantine/charts';
import type { FirstByteView } from '../../../server/contract/request-views.ts';
import { useLocalization } from '../../messages/use-messages.ts';
import type { ChartRow } from './usage-figures.ts';

const height = 250;
const colors = ['water.6', 'orange.5', 'violet.5', 'lime.7', 'pink.5'];

interface TimeAxis {
  steps: readonly number[];
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

export interface FirstByteChartProps extends TimeAxis {
  times: FirstByteView['steps'];
}

/** Median and 95th percentile over time; a gap where there was no request. */
export function FirstByteChart({ steps, times, tick, format }: FirstByteChartProps) {
  const { overview } = useLocalization().messages;
  const known = new Map(times.map((step) => [step.startMs, step]));
  const rows = steps.map((startMs) => ({
    startMs,
    median: known.get(startMs)?.medianMs ?? null,
    p95: known.get(startMs)?.p95Ms ?? null,
  }));
  return (
    <LineChart
      h={height}
      data={rows}
      dataKey="startMs"
      series={[
        { name: 'median', label: overview.median, color: 'water.6' },
        { name: 'p95', label: overview.p95, color: 'orange.5' },
      ]}
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
