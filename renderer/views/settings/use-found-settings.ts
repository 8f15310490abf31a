import { createContext, useContext } from 'react';
import { type FoundSettings, searchSettings } from './search-settings.ts';

/** What the search box has found. */
export const FoundSettingsContext = createContext<FoundSettings>(searchSettings([], ''));

export function useFoundSettings(): FoundSettings {
  return useContext(FoundSettingsContext);
}
