import { useEffect } from 'react';
import { useLocation, useSearch } from 'wouter';

export const tabNames = ['conversation', 'summary', 'request', 'response', 'attempts', 'timeline'] as const;
export type TabName = (typeof tabNames)[number];

/** The tab that was chosen last; null until one has been. */
let chosenTab: TabName | null = null;

/**
 * The current tab. It is part of the address, `?tab=request`; an address without one gets the tab that was chosen last, and
 * before that the most telling one: what was said, if that was captured.
 */
export function useTab(isCaptured: boolean): [tab: TabName, choose: (tab: TabName) => void] {
  const search = useSearch();
  const [path, navigate] = useLocation();
  const fromAddress = tabNames.find((name) => name === new URLSearchParams(search).get('tab'));
  const tab = fromAddress ?? chosenTab ?? (isCaptured ? 'conversation' : 'summary');
  const address = addressOf(path, search, tab);
  useEffect(() => {
    if (fromAddress !== undefined) chosenTab = fromAddress;
    else if (chosenTab !== null) navigate(address, { replace: true });
  }, [fromAddress, address, navigate]);
  return [tab, (chosen) => navigate(addressOf(path, search, chosen), { replace: true })];
}

function addressOf(path: string, search: string, tab: TabName): string {
  const parameters = new URLSearchParams(search);
  parameters.set('tab', tab);
  return `${path}?${parameters}`;
}
