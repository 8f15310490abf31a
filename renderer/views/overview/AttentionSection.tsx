import { IconAlertTriangle, IconChevronRight, IconInfoCircle } from '@tabler/icons-react';
import { Link } from 'wouter';
import { Section } from '../../components/Section.tsx';
import { useNow } from '../../components/use-now.ts';
import { type Localization, useLocalization } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/use-control.ts';
import classes from './AttentionSection.module.css';
import { type Concern, concernsOf } from './attention.ts';

const minuteMs = 60_000;

/** What should be looked after, each with the way to its mend. Not there where there is nothing. */
export function AttentionSection() {
  const localization = useLocalization();
  const names = localization.messages.attention;
  const views = useControlState((state) => state.views);
  const nowMs = useNow((now) => Math.floor(now / minuteMs) * minuteMs);
  const concerns = views ? concernsOf(views, nowMs) : [];
  if (concerns.length === 0) return null;
  return (
    <Section title={names.title} count={localization.formats.number(concerns.length)}>
      <ul className={classes.list}>
        {concerns.map((concern) => (
          <li key={`${concern.kind} ${'name' in concern ? concern.name : ''}`}>
            <Link className={classes.concern} href={concern.href}>
              {concern.isBad ? (
                <IconAlertTriangle className={classes.bad} size={18} aria-hidden />
              ) : (
                <IconInfoCircle className={classes.warning} size={18} aria-hidden />
              )}
              <span className={classes.text}>{textOf(concern, localization)}</span>
              <span className={classes.mend}>{names.mends[concern.kind]}</span>
              <IconChevronRight className={classes.mend} size={16} aria-hidden />
            </Link>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function textOf(concern: Concern, { messages, formats }: Localization): string {
  const { texts } = messages.attention;
  switch (concern.kind) {
    case 'provider-unusable':
    case 'provider-unlisted':
      return texts[concern.kind](concern.name, concern.reason);
    case 'ledger-broken':
      return texts['ledger-broken'](concern.reason);
    case 'ledger-dropped':
      return texts['ledger-dropped'](formats.number(concern.rows));
    case 'key-expired':
      return texts['key-expired'](concern.name);
    case 'key-expires':
      return texts['key-expires'](concern.name, formats.day(concern.atMs));
    default:
      return texts[concern.kind];
  }
}
