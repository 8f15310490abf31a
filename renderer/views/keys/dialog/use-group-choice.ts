import { useLocation, useSearch } from 'wouter';

/** The group whose keys are shown, which stands in the address: `/keys?group=g1`; null: any. */
export function useGroupChoice(): [string | null, (group: string | null) => void] {
  const search = new URLSearchParams(useSearch());
  const [path, goTo] = useLocation();
  const choose = (group: string | null) => {
    if (group === null) search.delete('group');
    else search.set('group', group);
    goTo(search.size > 0 ? `${path}?${search}` : path, { replace: true });
  };
  return [search.get('group'), choose];
}
