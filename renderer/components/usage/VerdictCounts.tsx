import { Link } from 'wouter';
import type { UsageTotals } from '../../../server/contract/ledger.ts';
import { useLocalization } from '../../messages/use-messages.ts';
import classes from './VerdictCounts.module.css';

type Counts = Pick<UsageTotals, 'failed' | 'refused'>;
type CountedOutcome = keyof Counts;

interface VerdictCountsProps {
  counts: Counts;
  /** The address of these requests; absent: they cannot be listed by themselves. */
  hrefOf?: ((outcome: CountedOutcome) => string) | undefined;
  /** Whether it is said too that none failed. */
  saysNone?: boolean;
}

/** `3 failed · 2 refused`: beside a number of requests, and each leading to its own. */
export function VerdictCounts({ counts: { failed, refused }, hrefOf, saysNone = false }: VerdictCountsProps) {
  const hasFailed = failed > 0 || saysNone;
  return (
    <>
      {hasFailed && <Figure outcome="failed" count={failed} href={hrefOf?.('failed')} />}
      {hasFailed && refused > 0 && ' · '}
      {refused > 0 && <Figure outcome="refused" count={refused} href={hrefOf?.('refused')} />}
    </>
  );
}

interface FigureProps {
  outcome: CountedOutcome;
  count: number;
  href: string | undefined;
}

function Figure({ outcome, count, href }: FigureProps) {
  const { messages, formats } = useLocalization();
  const text = messages.verdictCounts[outcome](formats.number(count));
  if (count === 0) return text;
  if (href === undefined) return <span className={classes[outcome]}>{text}</span>;
  return (
    <Link className={classes[outcome]} href={href}>
      {text}
    </Link>
  );
}
