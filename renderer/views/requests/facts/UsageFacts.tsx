import { costOf } from '../../../../server/contract/ledger.ts';
import type { RequestView } from '../../../../server/contract/request-views.ts';
import { useLocalization } from '../../../messages/use-messages.ts';
import classes from '../detail/RequestPanel.module.css';
import { usageAmounts } from './usage-amounts.ts';

/** The usage, how certain it is, and the cost. */
export function UsageFacts({ request }: { request: RequestView }) {
  const { usage, usageCertainty } = request;
  const { messages, formats } = useLocalization();
  const { usageNames, certainties, cost } = messages.requests;
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
          <dd>{formats.cost(costOf(request, usage !== null))}</dd>
        </div>
      </dl>
    </>
  );
}
