import { createContext, useContext } from 'react';
import { type FoundSettings, searchSettings } from './search-settings.ts';

/** The matches of the search box. */
export const FoundSettingsContext = createContext<FoundSettings>(searchSettings([], ''));

export function useFoundSettings(): FoundSettings {
  return useContext(FoundSettingsContext);
}
