/**
 * Settings of Sluice itself, such as the window's appearance, the address to listen on, and what is kept. Providers,
 * keys and groups have their own screens.
 */
import { Button } from '@mantine/core';
import { type ReactNode, useMemo, useState } from 'react';
import { ListSkeleton } from '../../components/feedback/ListSkeleton.tsx';
import { Screen } from '../../components/layout/Screen.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { type SectionId, sectionIds } from '../../state/window/section-ids.ts';
import { useDesktop } from '../../state/window/use-desktop.ts';
import { ProgressiveRender } from './ProgressiveRender.tsx';
import { AboutPart } from './parts/AboutPart.tsx';
import { AddressNotes } from './parts/AddressNotes.tsx';
import { DesktopPart } from './parts/DesktopPart.tsx';
import { NetworkState } from './parts/NetworkState.tsx';
import { SessionsPart } from './parts/SessionsPart.tsx';
import { SettingsPart } from './parts/SettingsPart.tsx';
import { TeamPart } from './parts/TeamPart.tsx';
import { TransferPart } from './parts/TransferPart.tsx';
import { WindowPart } from './parts/WindowPart.tsx';
import { PricesPart } from './prices/PricesPart.tsx';
import classes from './Settings.module.css';
import { SettingsGuide } from './SettingsGuide.tsx';
import { searchSettings } from './search/search-settings.ts';
import { FoundSettingsContext } from './search/use-found-settings.ts';
import { searchableSections } from './settings-sections.ts';
import { sectionElementId, useSectionAddress } from './use-section-address.ts';

const parts: Record<SectionId, ReactNode> = {
  window: <WindowPart />,
  desktop: <DesktopPart />,
  address: <SettingsPart part="address">{(form) => <AddressNotes form={form} />}</SettingsPart>,
  network: <SettingsPart part="network">{() => <NetworkState />}</SettingsPart>,
  access: <SettingsPart part="access" />,
  sessions: <SessionsPart />,
  serving: <SettingsPart part="serving" />,
  records: <SettingsPart part="records" />,
  observability: <SettingsPart part="observability" />,
  prices: <PricesPart />,
  team: <TeamPart />,
  transfer: <TransferPart />,
  about: <AboutPart />,
};

export function Settings() {
  const messages = useMessages();
  const { settings: names } = messages;
  const status = useControlState((state) => state.views?.status ?? null);
  const isDesktop = Boolean(useDesktop()?.view);
  const [search, setSearch] = useState('');
  const { current, requested, show } = useSectionAddress(status !== null);
  const sharedCounts = status?.sharedCounts ?? null;
  const searchable = useMemo(() => searchableSections(messages, { sharedCounts }), [messages, sharedCounts]);
  const found = useMemo(() => searchSettings(searchable, search), [searchable, search]);
  const available = sectionIds.filter((id) => id !== 'desktop' || isDesktop);
  const shown = available.filter(found.hasSection);
  return (
    <Screen name="settings">
      <div className={classes.columns}>
        <SettingsGuide sections={shown} current={current} search={search} onSearch={setSearch} onShow={show} />
        <div className={classes.sections}>
          {shown.length === 0 && (
            <div className={classes.noneFound}>
              <p className={classes.text}>{names.noneFound(search.trim())}</p>
              <Button size="xs" variant="default" onClick={() => setSearch('')}>
                {names.clearSearch}
              </Button>
            </div>
          )}
          <p className={classes.heard} role="status">
            {!found.isAll && names.found(shown.length, String(shown.length))}
          </p>
          <FoundSettingsContext value={found}>
            {status ? (
              // A link to a section needs everything above and below it to be rendered.
              <ProgressiveRender first={requested === null ? 3 : available.length}>
                {available.map((id) => (
                  <div
                    key={id}
                    id={sectionElementId(id)}
                    className={classes.section}
                    data-is-found={found.hasSection(id)}
                    tabIndex={-1}
                  >
                    {parts[id]}
                  </div>
                ))}
              </ProgressiveRender>
            ) : (
              <ListSkeleton rows={4} rowHeight={120} />
            )}
          </FoundSettingsContext>
        </div>
      </div>
    </Screen>
  );
}
