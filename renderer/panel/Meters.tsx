/** As bars: the budgets of keys and groups, and what providers have left for this account. */
import type { PanelBudget, PanelRemaining } from '../../server/contract/panel-view.ts';
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
  return <Bar name={name} detail={limit} text={spent} share={used / amount} />;
}

/** Rate limits, which only some providers tell. */
export function RemainingLimits({ remaining }: { remaining: readonly PanelRemaining[] }) {
  const { messages, formats } = usePanelWords();
  const texts = messages.panel;
  if (remaining.length === 0) return null;
  return (
    <Section title={texts.rateLimits}>
      <ul>
        {remaining.map(({ provider, providerName, credentialId, credentialLabel, kind, remaining: left, limit }) => {
          const leftText = texts.left[kind](formats.compact(left));
          const share = limit === null || limit === 0 ? null : 1 - left / limit;
          return (
            <li key={`${provider} ${credentialId}`}>
              <Bar name={providerName} detail={credentialLabel ?? ''} text={leftText} share={share} />
            </li>
          );
        })}
      </ul>
    </Section>
  );
}

interface BarProps {
  name: string;
  detail: string;
  text: string;
  /** The part that is used; null if unknown. */
  share: number | null;
}

function Bar({ name, detail, text, share }: BarProps) {
  return (
    <div className={classes.meter}>
      <div className={classes.line}>
        <span className={classes.cut}>
          {name} <span className={classes.small}>{detail}</span>
        </span>
        <span className={classes.figure}>{text}</span>
      </div>
      {share !== null && (
        <meter
          className={meters.meter}
          aria-label={[name, detail].filter(Boolean).join(', ')}
          aria-valuetext={text}
          min={0}
          max={1}
          low={nearShare}
          high={1}
          optimum={0}
          value={Math.max(0, Math.min(1, share))}
          data-is-full={share >= 1 || undefined}
        />
      )}
    </div>
  );
}
