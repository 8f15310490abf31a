import { Link } from 'wouter';
import { costOfSum } from '../../../server/contract/ledger.ts';
import { useLocalization } from '../../messages/use-messages.ts';
import { ListSkeleton } from '../feedback/ListSkeleton.tsx';
import { countedOf, type Dimension, type UsageAnswers } from './load-usage.ts';
import { colorOf } from './name-colors.ts';
import { type RequestsAddressFilter, requestsAddressOf } from './requests-address.ts';
import classes from './TopTable.module.css';
import { amountOf, type NamedCounted } from './usage-figures.ts';
import { useNames } from './use-names.ts';

const mostRows = 10;

/** The keys, groups, models or providers with the most usage by the chosen metric. Each row links to its requests. */
export function TopTable({ answers }: { answers: UsageAnswers | null }) {
  const { columns, dimensionNames, nobody } = useLocalization().messages.overview;
  if (!answers) return <ListSkeleton rows={3} rowHeight={36} />;
  const { by, byName, grid } = answers;
  if (byName.length === 0) return <p className={classes.empty}>{nobody}</p>;
  const metric = countedOf(answers.metric);
  const rows = byName.toSorted((a, b) => amountOf(b, metric) - amountOf(a, metric)).slice(0, mostRows);
  const max = Math.max(...rows.map((row) => amountOf(row, metric)), Number.MIN_VALUE);
  return (
    <table className={classes.table}>
      <thead>
        <tr>
          <th>{dimensionNames[by]}</th>
          <th className={classes.end}>{columns.requests}</th>
          <th className={`${classes.end} ${classes.wide}`}>{columns.failed}</th>
          <th className={`${classes.end} ${classes.wide}`}>{columns.refused}</th>
          <th className={classes.end}>{columns.tokens}</th>
          <th className={classes.end}>{columns.cost}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <TopRow key={row.name ?? ''} row={row} by={by} share={amountOf(row, metric) / max} sinceMs={grid.sinceMs} />
        ))}
      </tbody>
    </table>
  );
}

interface TopRowProps {
  row: NamedCounted;
  by: Dimension;
  /** Relative to the largest value. */
  share: number;
  sinceMs: number;
}

function TopRow({ row, by, share, sinceMs }: TopRowProps) {
  const { formats } = useLocalization();
  const name = useNames(by, [row.name])(row.name);
  const { failed, refused } = row;
  const hrefOf = (filter: RequestsAddressFilter = {}) => requestsAddressOf(by, row.name, { ...filter, since: sinceMs });
  return (
    <tr>
      <td className={classes.name} title={name}>
        <span className={classes.share} style={{ width: `${share * 100}%` }} aria-hidden />
        <span className={classes.swatch} style={{ background: colorOf(row.name) }} aria-hidden />
        <Figure text={name} href={hrefOf()} />
      </td>
      <td className={classes.end}>{formats.number(row.requests)}</td>
      <td className={`${classes.end} ${classes.wide} ${failed > 0 ? classes.bad : ''}`}>
        <Figure text={formats.number(failed)} href={failed > 0 ? hrefOf({ outcome: 'failed' }) : null} />
      </td>
      <td className={`${classes.end} ${classes.wide}`}>
        <Figure text={formats.number(refused)} href={refused > 0 ? hrefOf({ outcome: 'refused' }) : null} />
      </td>
      <td className={classes.end}>{formats.compact(row.inputTokens + row.outputTokens)}</td>
      <td className={classes.end}>
        <Cost row={row} />
      </td>
    </tr>
  );
}

/** `href`: null for no link. */
function Figure({ text, href }: { text: string; href: string | null }) {
  if (href === null) return text;
  return (
    <Link className={classes.link} href={href}>
      {text}
    </Link>
  );
}

function Cost({ row }: { row: NamedCounted }) {
  const { messages, formats } = useLocalization();
  const { unpriced } = messages.overview;
  const hint = row.unpricedRequests > 0 ? unpriced(formats.number(row.unpricedRequests)) : undefined;
  return <span title={hint}>{formats.cost(costOfSum(row), hint && '≥')}</span>;
}
