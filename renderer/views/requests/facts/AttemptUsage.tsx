import type { AttemptRecord } from '../../../../server/contract/ledger.ts';
import { useLocalization } from '../../../messages/use-messages.ts';
import classes from '../detail/RequestPanel.module.css';
import { usageAmounts } from './usage-amounts.ts';

/** The attempt's share of the request's usage and cost, in one line. */
export function AttemptUsage({ attempt: { usage, usageCertainty, costUsd } }: { attempt: AttemptRecord }) {
  const { messages, formats } = useLocalization();
  const { usageNames, certaintyMarks, costUnknown, usedNothing } = messages.requests;
  if (usage === null && costUsd === 0) return <p className={classes.used}>{usedNothing}</p>;
  const amounts = usageAmounts(usage, usageNames).map(({ name, amount }) => `${name} ${formats.number(amount)}`);
  const cost = costUsd === null ? `${messages.requests.cost} ${costUnknown}` : formats.dollars(costUsd);
  return (
    <p className={classes.used}>
      {[...amounts, cost].join(' · ')}
      {usageCertainty !== 'reported' && usageCertainty !== 'none' && (
        <span className={classes.mark}>{certaintyMarks[usageCertainty]}</span>
      )}
    </p>
  );
}
