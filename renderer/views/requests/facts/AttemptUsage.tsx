import { type AttemptRecord, costOf } from '../../../../server/contract/ledger.ts';
import { useLocalization } from '../../../messages/use-messages.ts';
import classes from '../detail/RequestPanel.module.css';
import { usageAmounts } from './usage-amounts.ts';

/** The attempt's share of the request's usage and cost, in one line. */
export function AttemptUsage({ attempt }: { attempt: AttemptRecord }) {
  const { usage, usageCertainty } = attempt;
  const { messages, formats } = useLocalization();
  const { usageNames, certaintyMarks, usedNothing } = messages.requests;
  const known = costOf(attempt, usage !== null);
  if (known === 'nothing') return <p className={classes.used}>{usedNothing}</p>;
  const amounts = usageAmounts(usage, usageNames).map(({ name, amount }) => `${name} ${formats.number(amount)}`);
  const cost = known === 'unknown' ? `${messages.requests.cost} ${messages.unknownCost}` : formats.cost(known);
  return (
    <p className={classes.used}>
      {[...amounts, cost].join(' · ')}
      {usageCertainty !== 'reported' && usageCertainty !== 'none' && (
        <span className={classes.mark}>{certaintyMarks[usageCertainty]}</span>
      )}
    </p>
  );
}
