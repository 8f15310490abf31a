import { Link } from 'wouter';
import { useControlState } from '../../state/use-control.ts';
import { useRights } from '../../state/use-rights.ts';
import { useProviderName } from './use-provider-name.ts';

/** A provider by its name, which leads to it where it has a page that the person may open: the demo has none, nor has one that is gone. */
export function ProviderLink({ id }: { id: string }) {
  const name = useProviderName()(id);
  const hasPage = useControlState(({ views }) => views?.providers.some((each) => each.id === id && !each.isDemo));
  const href = `/providers/${id}`;
  return useRights().mayOpen(href) && hasPage ? <Link href={href}>{name}</Link> : name;
}
