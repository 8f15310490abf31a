import { Switch } from '@mantine/core';
import { Link } from 'wouter';
import type { GroupView } from '../../../../server/contract/access-views.ts';
import type { Limits } from '../../../../server/contract/limit-settings.ts';
import type { Lock } from '../../../../server/contract/lock.ts';
import { LimitFields } from '../../../components/access/AccessFields.tsx';
import { amountOf, LimitMeters } from '../../../components/access/LimitMeters.tsx';
import { limitsOf, rateNames } from '../../../components/access/limit-draft.ts';
import { CollapsibleFields } from '../../../components/forms/CollapsibleFields.tsx';
import { Lockable } from '../../../components/locks/Lockable.tsx';
import { type Localization, useLocalization, useMessages } from '../../../messages/use-messages.ts';
import classes from '../Groups.module.css';
import type { DraftProps, PartProps } from './group-draft.ts';

interface GroupLimitsProps extends PartProps {
  group: GroupView;
  unpricedLock: Lock | null;
}

/** Limits of all keys of the group together, and their current use. */
export function GroupLimits({ group, draft, change, lock, unpricedLock }: GroupLimitsProps) {
  const localization = useLocalization();
  const { limits: names, groups } = localization.messages;
  const set = describeLimits(limitsOf(draft.limits), localization);
  return (
    <CollapsibleFields title={names.title} summary={set || groups.none} isSet={set !== ''} lock={lock}>
      <p className={classes.soft}>{names.groupHint}</p>
      <LimitFields limits={draft.limits} onChange={(limits) => change({ limits })} />
      <LimitMeters meters={group.limitUse} />
      <Lockable lock={unpricedLock}>
        <UnpricedField draft={draft} change={change} />
      </Lockable>
    </CollapsibleFields>
  );
}

/** `60 requests per minute · $5.00 a day`; empty if there is no limit. */
function describeLimits(limits: Limits | undefined, localization: Localization): string {
  const { messages, formats } = localization;
  const { each, budgetPer } = messages.limits;
  return [
    ...rateNames.flatMap((name) => (limits?.[name] ? [each[name](formats.number(limits[name]))] : [])),
    ...(limits?.budgets ?? []).map(({ unit, amount, per }) => budgetPer[per](amountOf(unit, amount, localization))),
  ].join(' · ');
}

/** Whether a hard budget in dollars allows models of unknown price. */
function UnpricedField({ draft, change }: DraftProps) {
  const { groups: names } = useMessages();
  return (
    <Switch
      label={names.unpriced}
      description={
        <>
          {names.unpricedHint} <Link href="/settings?section=prices">{names.setPrices}</Link>
        </>
      }
      checked={draft.unpriced === 'allow'}
      onChange={(event) => change({ unpriced: event.currentTarget.checked ? 'allow' : 'refuse' })}
    />
  );
}
