import { Skeleton, UnstyledButton } from '@mantine/core';
import { Link } from 'wouter';
import { costOfSum } from '../../../server/contract/ledger.ts';
import { nothing } from '../../messages/formats.ts';
import { type Localization, useLocalization } from '../../messages/use-messages.ts';
import type { UsageAnswers } from './load-usage.ts';
import classes from './MetricTiles.module.css';
import { requestsAddress } from './requests-address.ts';
import { admittedOf, failureRate, type Metric, monthText, sumOf } from './usage-figures.ts';

interface MetricTilesProps {
  answers: UsageAnswers | null;
  /** The metrics shown, in order. */
  metrics?: readonly Metric[];
  chosen: Metric;
  onChoose(metric: Metric): void;
}

interface Tile {
  metric: Metric;
  value: string;
  details: { text: string; href: string }[];
}

/** Totals over the whole range. Each tile opens its chart, and its parts link to their requests. */
export function MetricTiles({ answers, metrics = allMetrics, chosen, onChoose }: MetricTilesProps) {
  const localization = useLocalization();
  const { metrics: names } = localization.messages.overview;
  const tiles = answers && tilesOf(answers, localization);
  const shown = metrics.map((metric) => tiles?.find((tile) => tile.metric === metric) ?? unloaded(metric));
  return (
    <div className={classes.tiles} data-count={shown.length}>
      {shown.map(({ metric, value, details }) => (
        <div key={metric} className={classes.tile} data-is-chosen={metric === chosen || undefined}>
          <UnstyledButton className={classes.choose} aria-pressed={metric === chosen} onClick={() => onChoose(metric)}>
            <span className={classes.name}>{names[metric]}</span>
            <span className={classes.value}>{value || <Skeleton height={20} width={64} />}</span>
          </UnstyledButton>
          <span className={classes.details}>
            {details.map(({ text, href }) => (
              <Link key={text} className={classes.detail} href={href} title={text}>
                {text}
              </Link>
            ))}
            {details.length === 0 && '\u00a0'}
          </span>
        </div>
      ))}
    </div>
  );
}

const allMetrics: readonly Metric[] = ['requests', 'tokens', 'cost', 'errors', 'firstByte'];

const unloaded = (metric: Metric): Tile => ({ metric, value: '', details: [] });

function tilesOf(answers: UsageAnswers, localization: Localization): Tile[] {
  const { messages, formats } = localization;
  const names = messages.overview;
  const { firstByte, grid, month, total } = answers;
  const since = grid.sinceMs;
  const all = requestsAddress({ since });
  const sum = sumOf(total);
  const { unpricedRequests, failed, refused } = sum;
  const rate = failureRate(sum);
  const failures = [
    ...(failed > 0
      ? [
          {
            text: names.failed(formats.number(failed), formats.number(admittedOf(sum))),
            href: requestsAddress({ outcome: 'failed', since }),
          },
        ]
      : []),
    ...(refused > 0
      ? [
          {
            text: names.refused(formats.number(refused)),
            href: requestsAddress({ outcome: 'refused', since }),
          },
        ]
      : []),
  ];
  const monthDetails = month
    ? [{ text: monthText(month, localization), href: requestsAddress({ since: month.sinceMs }) }]
    : [];
  const tokens = names.tokensDetail(formats.compact(sum.inputTokens), formats.compact(sum.outputTokens));
  return [
    { metric: 'requests', value: formats.number(sum.requests), details: [{ text: names.showRequests, href: all }] },
    {
      metric: 'tokens',
      value: formats.compact(sum.inputTokens + sum.outputTokens),
      details: [{ text: tokens, href: all }],
    },
    {
      metric: 'cost',
      value: formats.cost(costOfSum(sum)),
      details: [
        ...monthDetails,
        ...(unpricedRequests > 0 ? [{ text: names.unpriced(formats.number(unpricedRequests)), href: all }] : []),
      ],
    },
    { metric: 'errors', value: rate === null ? nothing : formats.percent(rate), details: failures },
    {
      metric: 'firstByte',
      value: firstByte.medianMs === null ? nothing : formats.duration(firstByte.medianMs),
      details:
        firstByte.p95Ms === null ? [] : [{ text: names.p95Detail(formats.duration(firstByte.p95Ms)), href: all }],
    },
  ];
}
