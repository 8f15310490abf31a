import type { UsageView } from '../../../server/contract/request-views.ts';
import { ListSkeleton } from '../../components/ListSkeleton.tsx';
import { useLocalization } from '../../messages/use-messages.ts';
import classes from './TopTable.module.css';
import { amountOf, type CountedMetric } from './usage-figures.ts';
import { useNames } from './use-names.ts';
import type { Dimension } from './use-usage.ts';

const mostRows = 10;
const unknown = '–';

interface TopTableProps {
  /** Null: not known yet. */
  usage: UsageView[] | null;
  by: Dimension;
  /** The most of it comes first. */
  metric: CountedMetric;
}

/** Who or what was used most. */
export function TopTable({ usage, by, metric }: TopTableProps) {
  const { messages, formats } = useLocalization();
  const { columns, dimensionNames, nobody, unpriced } = messages.overview;
  const nameOf = useNames(by);
  if (!usage) return <ListSkeleton rows={3} rowHeight={36} />;
  if (usage.length === 0) return <p className={classes.empty}>{nobody}</p>;
  const rows = usage.toSorted((a, b) => amountOf(b, metric) - amountOf(a, metric)).slice(0, mostRows);
  const most = Math.max(...rows.map((row) => amountOf(row, metric)), Number.MIN_VALUE);
  return (
    <table className={classes.table}>
      <thead>
        <tr>
          <th>{dimensionNames[by]}</th>
          <th className={classes.end}>{columns.requests}</th>
          <th className={`${classes.end} ${classes.wide}`}>{columns.errors}</th>
          <th className={classes.end}>{columns.tokens}</th>
          <th className={classes.end}>{columns.cost}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.name ?? ''}>
            <td className={classes.name} title={nameOf(row.name)}>
              <span
                className={classes.share}
                style={{ width: `${(amountOf(row, metric) / most) * 100}%` }}
                aria-hidden
              />
              {nameOf(row.name)}
            </td>
            <td className={classes.end}>{formats.number(row.requests)}</td>
            <td className={`${classes.end} ${classes.wide} ${row.errors > 0 ? classes.bad : ''}`}>
              {formats.number(row.errors)}
            </td>
            <td className={classes.end}>{formats.compact(row.inputTokens + row.outputTokens)}</td>
            <td
              className={classes.end}
              title={row.unpricedRequests > 0 ? unpriced(formats.number(row.unpricedRequests)) : undefined}
            >
              {row.costUsd === null ? unknown : formats.dollars(row.costUsd)}
              {row.costUsd !== null && row.unpricedRequests > 0 && '+'}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
