import { Button } from '@mantine/core';
import { IconAlertTriangle, IconChevronRight, IconInfoCircle } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { type Concern, concernsOf, mostAsked } from '../../../server/contract/attention.ts';
import { minuteMs } from '../../../server/contract/units.ts';
import { amountOf, describeLimit } from '../../components/access/LimitMeters.tsx';
import { Section } from '../../components/layout/Section.tsx';
import { type Localization, useLocalization } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { useReportedAndFound } from '../../state/control/use-found.ts';
import { credentialNameOf, describeCooldown, describeWhy, useConditionTime } from '../../state/providers/providers.ts';
import { describeRefusal } from '../../state/requests/failures.ts';
import classes from './AttentionSection.module.css';

/** The worst, so that the usage below stays in sight. */
const mostAtFirst = 8;

/** Concerns that need attention, each with a link to where it can be fixed. Renders nothing if there are none. */
export function AttentionSection() {
  const localization = useLocalization();
  const names = localization.messages.attention;
  const nowMs = useConditionTime();
  const { concerns, left } = useConcerns(nowMs);
  const [showsAll, setShowsAll] = useState(false);
  if (concerns.length === 0) return null;
  const shown = showsAll ? concerns : concerns.slice(0, mostAtFirst);
  const total = localization.formats.number(concerns.length + left);
  return (
    <Section title={names.title} count={total}>
      <ul className={classes.list}>
        {shown.map((concern) => (
          <li key={nameOf(concern)}>
            <ConcernLink concern={concern} nowMs={nowMs} />
          </li>
        ))}
      </ul>
      {shown.length < concerns.length && (
        <Button className={classes.all} size="xs" variant="subtle" onClick={() => setShowsAll(true)}>
          {names.showAll(total)}
        </Button>
      )}
      {showsAll && left > 0 && <p className={classes.left}>{names.left(localization.formats.number(left))}</p>}
    </Section>
  );
}

/** Concerns about all keys and groups; those that are not reported are queried. */
function useConcerns(nowMs: number): { concerns: Concern[]; left: number } {
  const views = useControlState((state) => state.views);
  const question = { needsAttention: true, limit: mostAsked };
  const keys = useReportedAndFound('key', question, minuteMs);
  const groups = useReportedAndFound('group', question, minuteMs);
  if (!views) return { concerns: [], left: 0 };
  const allViews = { ...views, keys: [...keys.views], groups: [...groups.views] };
  return { concerns: concernsOf(allViews, nowMs), left: keys.left + groups.left };
}

function nameOf(concern: Concern): string {
  const { kind, href } = concern;
  if ('meter' in concern) return `${kind} ${concern.id} ${JSON.stringify(concern.meter.budget)}`;
  if (concern.kind === 'refused') return `${kind} ${concern.refusal.reason}`;
  return `${kind} ${href} ${'name' in concern ? concern.name : ''} ${'credential' in concern ? concern.credential.id : ''}`;
}

function ConcernLink({ concern, nowMs }: { concern: Concern; nowMs: number }) {
  const localization = useLocalization();
  return (
    <Link className={classes.concern} href={concern.href}>
      {concern.isBad ? (
        <IconAlertTriangle className={classes.bad} size={18} aria-hidden />
      ) : (
        <IconInfoCircle className={classes.warning} size={18} aria-hidden />
      )}
      <span className={classes.text}>{textOf(concern, localization, nowMs)}</span>
      <span className={classes.fix}>{localization.messages.attention.fixes[concern.kind]}</span>
      <IconChevronRight className={classes.fix} size={16} aria-hidden />
    </Link>
  );
}

function textOf(concern: Concern, localization: Localization, nowMs: number): string {
  const { messages, formats } = localization;
  const { texts } = messages.attention;
  switch (concern.kind) {
    case 'provider': {
      const { provider, condition } = concern;
      return texts.provider(
        provider.name,
        messages.health.conditions[condition],
        describeWhy(provider, localization, nowMs),
      );
    }
    case 'credential': {
      const { provider, condition, credential } = concern;
      return texts.credential(
        provider.name,
        credentialNameOf(provider.credentials, credential.id, messages.providers.credential),
        messages.health.conditions[condition],
        describeCooldown(credential.health, localization, nowMs, true),
      );
    }
    case 'config-restored':
    case 'config-lost':
      return texts[concern.kind](concern.movedTo);
    case 'counts-away': {
      const { counts, isClosed } = concern;
      return texts['counts-away'](counts, formats.dayAndClock(counts.sinceMs), isClosed);
    }
    case 'ledger-broken':
      return texts['ledger-broken'](concern.reason);
    case 'ledger-waits':
      return texts['ledger-waits'](formats.number(concern.rows), concern.reason);
    case 'budgets-unwritten':
      return texts[concern.kind](concern.reason);
    case 'ledger-dropped':
      return texts['ledger-dropped'](formats.number(concern.rows));
    case 'ledger-refuses':
      return texts['ledger-refuses'](formats.number(concern.setAside.rows), concern.setAside.file);
    case 'ledger-replaced':
      return texts['ledger-replaced'](concern.reason, concern.movedTo);
    case 'refused':
      return texts.refused(describeRefusal(concern.refusal, localization));
    case 'standstill':
      return texts.standstill(formats.duration(concern.ms), formats.dayAndClock(concern.at), concern.request);
    case 'key-expired':
      return texts['key-expired'](concern.name);
    case 'key-expires':
      return texts['key-expires'](concern.name, formats.day(concern.atMs));
    case 'key-budget':
    case 'group-budget': {
      const usedText = amountOf(concern.meter.budget?.unit ?? 'usd', concern.meter.used, localization);
      return texts[concern.kind](concern.name, usedText, describeLimit(concern.meter, localization));
    }
    case 'key-unpriced':
    case 'group-unpriced': {
      const { unpriced } = concern.meter;
      const budget = describeLimit(concern.meter, localization);
      return texts[concern.kind]({ name: concern.name, requests: unpriced, count: formats.number(unpriced), budget });
    }
    default:
      return texts[concern.kind];
  }
}
