import { Link } from 'wouter';
import { useControlState } from '../../../state/control/use-control.ts';
import { useProviderName } from '../../../state/providers/providers.ts';
import { useRights } from '../../../state/rights/use-rights.ts';

/**
 * The name of a provider, as a link if it has a page that the person may open. The demo and removed providers have
 * none.
 */
export function ProviderLink({ id }: { id: string }) {
  const name = useProviderName()(id);
  const hasPage = useControlState(({ views }) => views?.providers.some((each) => each.id === id && !each.isDemo));
  const href = `/providers/${id}`;
  return useRights().mayOpen(href) && hasPage ? <Link href={href}>{name}</Link> : name;
}
