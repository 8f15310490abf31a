/** As bars: the budgets of keys and groups, and what providers have left for this account. */
import type { PanelBudget, PanelRemaining } from '../../server/contract/panel-view.ts';
import { amountOf, describeLimit, ShareMeter } from '../components/access/LimitMeters.tsx';
import { usePanelWords } from './panel-words.tsx';
import classes from './Rows.module.css';
import { Section } from './Rows.tsx';

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

/** Rate limits, where the headers of answers tell them: those of OpenAI, Azure, Anthropic, OpenRouter and the IETF draft. */
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
      {share !== null && <ShareMeter label={[name, detail].filter(Boolean).join(', ')} text={text} share={share} />}
    </div>
  );
}
