/** The condition of a provider, a model or a credential: its colour, and why it is so. */
import { Link } from 'wouter';
import { type Condition, conditionOfHealth, toneOf } from '../../../server/contract/provider-condition.ts';
import { useLocalization } from '../../messages/use-messages.ts';
import { describeCooldown, type Troubled, useProviderName } from '../../state/providers/providers.ts';
import { useRights } from '../../state/rights/use-rights.ts';
import { useNow } from '../../state/window/use-now.ts';
import classes from './Condition.module.css';

/** Its colour. `isNamed`: its word does not stand beside it, so it is read out and shown on hovering. */
export function ConditionDot({ condition, isNamed = false }: { condition: Condition; isNamed?: boolean }) {
  const { conditions } = useLocalization().messages.health;
  const name = isNamed
    ? { role: 'img', 'aria-label': conditions[condition], title: conditions[condition] }
    : { 'aria-hidden': true };
  return <span className={classes.dot} data-tone={toneOf[condition]} {...name} />;
}

/** To providers that are the reason of something. */
export function ProviderLinks({ ids }: { ids: readonly string[] }) {
  const { openProvider } = useLocalization().messages.models;
  const providerName = useProviderName();
  const { mayOpen } = useRights();
  return ids.map((id) => {
    const href = `/providers/${id}`;
    return (
      mayOpen(href) && (
        <Link key={id} className={classes.link} href={href}>
          {openProvider(providerName(id))}
        </Link>
      )
    );
  });
}

interface CooldownNoteProps {
  health: Troubled;
  /** The name of the subject, if the surroundings do not make it clear. */
  name?: string;
  className?: string | undefined;
}

/** Why something fails and when it is tried again; updates itself. Renders nothing if nothing fails. */
export function CooldownNote({ health, name, className }: CooldownNoteProps) {
  const localization = useLocalization();
  const text = useNow((now) => describeCooldown(health, localization, now));
  const condition = useNow((now) => conditionOfHealth(health, now));
  if (text === '') return null;
  return (
    <p className={className} data-tone={toneOf[condition]}>
      {name === undefined ? text : localization.messages.labelled(name, text)}
    </p>
  );
}
