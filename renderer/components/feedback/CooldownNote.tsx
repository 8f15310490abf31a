import { type CooldownView, describeFailure } from '../../../server/contract/provider-views.ts';
import { type Localization, useLocalization } from '../../messages/use-messages.ts';
import { useNow } from '../../state/window/use-now.ts';

interface CooldownNoteProps {
  health: Pick<CooldownView, 'failure' | 'failedWith' | 'until'> & { state: CooldownView['state'] | 'degraded' };
  /** The name of the subject, if the surroundings do not make it clear. */
  name?: string;
  className?: string | undefined;
}

/** Why something is in cooldown and until when; updates itself. Renders nothing if there was no failure. */
export function CooldownNote({ health, name, className }: CooldownNoteProps) {
  const localization = useLocalization();
  const text = useNow((now) => describeCooldown(health, localization, now));
  if (text === '') return null;
  return <p className={className}>{name === undefined ? text : localization.messages.labelled(name, text)}</p>;
}

/** Empty if there was no failure. */
export function describeCooldown(
  { state, failure, failedWith, until }: CooldownNoteProps['health'],
  { messages, formats }: Localization,
  now: number,
): string {
  if (failure === null) return '';
  const { health: names } = messages;
  const failureText = describeFailure(failure, failedWith, names);
  if (state === 'refused') return names.isRefused(failureText);
  if (until !== null && until > now) return names.until(failureText, formats.moment(until, now));
  return state === 'cooling' ? names.isTried(failureText) : names.recovers(failureText);
}
