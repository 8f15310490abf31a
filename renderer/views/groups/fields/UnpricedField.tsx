import { Switch } from '@mantine/core';
import { Link } from 'wouter';
import { useMessages } from '../../../messages/use-messages.ts';
import type { DraftProps } from './group-draft.ts';

/** Whether a hard budget in dollars allows models of unknown price. */
export function UnpricedField({ draft, change }: DraftProps) {
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
