/** The budgets of keys and groups, as bars. */
import type { PanelBudget } from '../../server/contract/panel-view.ts';
import meters from '../components/access/LimitMeters.module.css';
import { amountOf, describeLimit } from '../components/access/LimitMeters.tsx';
import { usePanelWords } from './panel-words.tsx';
import classes from './Rows.module.css';
import { Section } from './Rows.tsx';

/** As in the window's own meters: from here on a budget is nearly spent. */
const nearShare = 0.8;

export function Budgets({ budgets }: { budgets: readonly PanelBudget[] }) {
  const texts = usePanelWords().messages.panel;
  if (budgets.length === 0) return null;
  return (
    <Section title={texts.budgets}>
      <ul>
        {budgets.map((budget) => (
          <li key={`${budget.scope} ${budget.id} ${JSON.stringify(budget.meter.budget)}`}>
            <BudgetBar budget={budget} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function BudgetBar({ budget: { name, meter } }: { budget: PanelBudget }) {
  const words = usePanelWords();
  const { used, amount, budget } = meter;
  const limit = describeLimit(meter, words);
  const spent = words.messages.limits.spent(amountOf(budget?.unit ?? 'usd', used, words));
  return (
    <div className={classes.meter}>
      <div className={classes.line}>
        <span className={classes.cut}>
          {name} <span className={classes.small}>{limit}</span>
        </span>
        <span className={classes.figure}>{spent}</span>
      </div>
      <meter
        className={meters.meter}
        aria-label={`${name}, ${limit}`}
        aria-valuetext={spent}
        min={0}
        max={1}
        low={nearShare}
        high={1}
        optimum={0}
        value={Math.min(1, used / amount)}
        data-is-full={used >= amount || undefined}
      />
    </div>
  );
}
