import { useEffect } from 'react';
import { useLocation, useSearch } from 'wouter';

export const tabNames = ['summary', 'conversation', 'request', 'response', 'attempts', 'timeline'] as const;
export type TabName = (typeof tabNames)[number];

let lastTab: TabName = 'summary';

/**
 * The current tab. It is part of the address, `?tab=request`; an address without one gets the tab of the previous
 * request.
 */
export function useTab(): [tab: TabName, choose: (tab: TabName) => void] {
  const search = useSearch();
  const [path, navigate] = useLocation();
  const fromAddress = tabNames.find((name) => name === new URLSearchParams(search).get('tab'));
  const tab = fromAddress ?? lastTab;
  const address = addressOf(path, search, tab);
  useEffect(() => {
    lastTab = tab;
    if (fromAddress === undefined && tab !== 'summary') navigate(address, { replace: true });
  }, [fromAddress, tab, address, navigate]);
  return [tab, (chosen) => navigate(addressOf(path, search, chosen), { replace: true })];
}

function addressOf(path: string, search: string, tab: TabName): string {
  const parameters = new URLSearchParams(search);
  parameters.set('tab', tab);
  return `${path}?${parameters}`;
}
