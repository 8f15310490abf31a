import type { RequestView } from '../../../../server/contract/request-views.ts';
import { useLocalization } from '../../../messages/use-messages.ts';
import classes from '../detail/RequestPanel.module.css';
import { usageAmounts } from './usage-amounts.ts';

/** The usage, how certain it is, and the cost. */
export function UsageFacts({ request: { usage, usageCertainty, costUsd } }: { request: RequestView }) {
  const { messages, formats } = useLocalization();
  const { usageNames, certainties, cost, costUnknown } = messages.requests;
  return (
    <>
      <p className={classes.note}>{certainties[usageCertainty]}</p>
      <dl className={classes.facts}>
        {usageAmounts(usage, usageNames).map(({ name, amount }) => (
          <div key={name} className={classes.fact}>
            <dt>{name}</dt>
            <dd>{formats.number(amount)}</dd>
          </div>
        ))}
        <div className={classes.fact}>
          <dt>{cost}</dt>
          <dd>{costUsd === null ? costUnknown : formats.dollars(costUsd)}</dd>
        </div>
      </dl>
    </>
  );
}
