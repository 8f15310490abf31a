import { Skeleton, UnstyledButton } from '@mantine/core';
import type { FirstByteView } from '../../../server/contract/request-views.ts';
import { useLocalization } from '../../messages/use-messages.ts';
import classes from './MetricTiles.module.css';
import type { Metric, sumOf } from './usage-figures.ts';

interface MetricTilesProps {
  sum: ReturnType<typeof sumOf> | null;
  firstByte: FirstByteView | null;
  chosen: Metric;
  onChoose(metric: Metric): void;
}

const unknown = '–';

/** The figures of the whole time; each leads to its chart. */
export function MetricTiles({ sum, firstByte, chosen, onChoose }: MetricTilesProps) {
  const { messages, formats } = useLocalization();
  const { metrics, tokensDetail, errorsDetail, p95Detail, unpriced } = messages.overview;
  const rate = sum && sum.requests > 0 ? formats.percent(sum.errors / sum.requests) : unknown;
  const tiles: { metric: Metric; value: string | null; detail?: string | false | null }[] = [
    { metric: 'requests', value: sum && formats.number(sum.requests) },
    {
      metric: 'tokens',
      value: sum && formats.compact(sum.inputTokens + sum.outputTokens),
      detail: sum && tokensDetail(formats.compact(sum.inputTokens), formats.compact(sum.outputTokens)),
    },
    {
      metric: 'cost',
      value: sum && (sum.costUsd === null ? unknown : formats.dollars(sum.costUsd)),
      detail: sum && sum.unpricedRequests > 0 && unpriced(formats.number(sum.unpricedRequests)),
    },
    { metric: 'errors', value: sum && rate, detail: sum && errorsDetail(formats.number(sum.errors)) },
    {
      metric: 'firstByte',
      value: firstByte && (firstByte.medianMs === null ? unknown : formats.duration(firstByte.medianMs)),
      detail: firstByte?.p95Ms != null && p95Detail(formats.duration(firstByte.p95Ms)),
    },
  ];
  return (
    <div className={classes.tiles}>
      {tiles.map(({ metric, value, detail }) => (
        <UnstyledButton
          key={metric}
          className={classes.tile}
          aria-pressed={metric === chosen}
          onClick={() => onChoose(metric)}
        >
          <span className={classes.name}>{metrics[metric]}</span>
          <span className={classes.value}>{value ?? <Skeleton height={20} width={64} />}</span>
          <span className={classes.detail}>{detail || '\u00a0'}</span>
        </UnstyledButton>
      ))}
    </div>
  );
}
