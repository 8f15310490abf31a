import type { LimitMeter } from '../../../server/contract/limits.ts';
import type { Messages } from '../../messages/en/en.ts';
import type { Formats } from '../../messages/formats.ts';
import { type Localization, useLocalization } from '../../messages/use-messages.ts';
import { useNow } from '../../state/window/use-now.ts';
import classes from './LimitMeters.module.css';

/** The current use of each limit. Renders nothing if there are no limits. */
export function LimitMeters({ meters }: { meters: readonly LimitMeter[] }) {
  if (meters.length === 0) return null;
  return (
    <ul className={classes.list}>
      {meters.map((meter) => (
        <li key={nameOf(meter)}>
          <Meter meter={meter} />
        </li>
      ))}
    </ul>
  );
}

/** From here on a limit is nearly reached. */
const nearShare = 0.8;

/** The used part of something, as a bar. `text` is what it shows, for those who cannot see it. */
export function ShareMeter({ label, text, share }: { label: string; text: string; share: number }) {
  return (
    <meter
      className={classes.meter}
      aria-label={label}
      aria-valuetext={text}
      min={0}
      max={1}
      low={nearShare}
      high={1}
      optimum={0}
      value={Math.max(0, Math.min(1, share))}
      data-is-full={share >= 1 || undefined}
    />
  );
}

/** What the words for a limit need. */
export interface LimitTexts {
  messages: Pick<Messages, 'limits'>;
  formats: Pick<Formats, 'number' | 'dollars'>;
}

function Meter({ meter }: { meter: LimitMeter }) {
  const localization = useLocalization();
  const now = useNow((at) => Math.floor(at / 60_000) * 60_000);
  const { messages, formats } = localization;
  const { used, amount, budget, resetsAt, pace } = meter;
  const label = describeLimit(meter, localization);
  const text = describeUsed(meter, localization);
  return (
    <>
      <div className={classes.line}>
        <span>{label}</span>
        <span className={classes.used}>
          {text}
          {budget && resetsAt !== null && ` · ${messages.limits.opens(formats.moment(resetsAt, now))}`}
        </span>
      </div>
      <ShareMeter label={label} text={text} share={used / amount} />
      {budget && pace && (
        <p className={classes.pace}>
          {pace.spentAt === null
            ? messages.limits.comesTo(amountOf(budget.unit, roundedTo(budget.unit, pace.expected), localization))
            : messages.limits.spentBy(formats.dayAndClock(pace.spentAt))}
        </p>
      )}
    </>
  );
}

/** `$5 a day`, `requests per minute`. */
export function describeLimit({ kind, budget, amount }: LimitMeter, { messages, formats }: LimitTexts): string {
  const { meters, budgetPer, budget: name } = messages.limits;
  if (kind !== 'budget' || !budget) return kind === 'budget' ? name : meters[kind];
  return budgetPer[budget.per](amountOf(budget.unit, amount, { messages, formats }));
}

/** A guess needs no fractions of a token or cent. */
function roundedTo(unit: 'usd' | 'tokens', amount: number): number {
  return unit === 'usd' ? Math.round(amount * 100) / 100 : Math.round(amount);
}

/** The amount of a budget is already part of its name. */
function describeUsed({ budget, used, unpriced, amount }: LimitMeter, localization: Localization): string {
  const { messages, formats } = localization;
  if (budget) {
    const spent = messages.limits.spent(amountOf(budget.unit, used, localization));
    return unpriced > 0 ? `${spent} · ${messages.overview.unpriced(formats.number(unpriced))}` : spent;
  }
  return messages.limits.used(formats.number(used), formats.number(amount));
}

/** `$0.42`, `1,200 tokens`. */
export function amountOf(unit: 'usd' | 'tokens', amount: number, { messages, formats }: LimitTexts): string {
  return unit === 'usd' ? formats.dollars(amount) : messages.limits.tokens(formats.number(amount));
}

function nameOf({ kind, budget }: LimitMeter): string {
  return budget ? `${budget.unit} ${budget.per} ${budget.amount} ${budget.hard}` : kind;
}
