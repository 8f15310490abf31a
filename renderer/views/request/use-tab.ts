import { useEffect, useState } from 'react';
import { useLocation, useSearch } from 'wouter';

export const tabNames = ['summary', 'conversation', 'request', 'response', 'attempts', 'timeline'] as const;
export type TabName = (typeof tabNames)[number];

let lastTab: TabName = 'summary';

/** Which tab is shown. It stands in the address, `?tab=request`; an address without one keeps the tab of the request before. */
export function useTab(): [tab: TabName, choose: (tab: TabName) => void] {
  const search = new URLSearchParams(useSearch());
  const [path, navigate] = useLocation();
  const [chosen, setChosen] = useState(lastTab);
  const asked = tabNames.find((name) => name === search.get('tab'));
  useEffect(() => {
    if (asked) lastTab = asked;
  }, [asked]);
  const choose = (tab: TabName) => {
    setChosen(tab);
    search.set('tab', tab);
    navigate(`${path}?${search}`, { replace: true });
  };
  return [asked ?? chosen, choose];
}
