/**
 * Settings of Sluice itself, one section a page: the window's appearance, the address to listen on, what is kept.
 * Providers, keys and groups have their own screens.
 */
import { Button, CloseButton, NativeSelect, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { nearestName } from '../../../server/contract/nearest-name.ts';
import { GoneNote } from '../../components/feedback/EmptyNote.tsx';
import { ListSkeleton } from '../../components/feedback/ListSkeleton.tsx';
import { Screen } from '../../components/layout/Screen.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { type SectionId, sectionIds, sectionOf } from '../../state/window/section-ids.ts';
import { useDesktop } from '../../state/window/use-desktop.ts';
import { AboutPart } from './parts/AboutPart.tsx';
import { DesktopPart } from './parts/DesktopPart.tsx';
import { AddressNotes, NetworkState } from './parts/NetworkState.tsx';
import { SessionsPart } from './parts/SessionsPart.tsx';
import { SettingsPart } from './parts/SettingsPart.tsx';
import { TeamPart } from './parts/TeamPart.tsx';
import { TransferPart } from './parts/TransferPart.tsx';
import { WindowPart } from './parts/WindowPart.tsx';
import { PricesPart } from './prices/PricesPart.tsx';
import classes from './Settings.module.css';
import { FoundSettingsContext, searchableSections, searchSettings, sectionTitle } from './search/settings-sections.ts';

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
  const asked = new URLSearchParams(useSearch()).get('section');
  const sharedCounts = status?.sharedCounts ?? null;
  const searchable = useMemo(() => searchableSections(messages, { sharedCounts }), [messages, sharedCounts]);
  const found = useMemo(() => searchSettings(searchable, search), [searchable, search]);
  const available = sectionIds.filter((id) => id !== 'desktop' || isDesktop);
  const named = available.find((id) => id === asked);
  const current = named ?? 'window';
  const listed = available.filter(found.hasSection);
  const isShown = (id: SectionId) => (found.isAll ? id === current : found.hasSection(id));
  const opened = useOpened(available.filter(isShown));
  useEffect(() => {
    if (found.isAll) scrollTo({ top: 0 });
    else document.getElementById(elementIdOf(current))?.scrollIntoView();
    // Only when another section is asked for, not with each letter that is typed.
  }, [current, found.isAll]);
  return (
    <Screen name="settings">
      <div className={classes.columns}>
        <SettingsGuide sections={listed} current={current} search={search} onSearch={setSearch} />
        <div className={classes.sections}>
          {asked !== null && !named && found.isAll && <NoSection asked={asked} among={available} />}
          {listed.length === 0 && (
            <div className={classes.noneFound}>
              <p className={classes.text}>{names.noneFound(search.trim())}</p>
              <Button size="xs" variant="default" onClick={() => setSearch('')}>
                {names.clearSearch}
              </Button>
            </div>
          )}
          <p className={classes.heard} role="status">
            {!found.isAll && names.found(listed.length, String(listed.length))}
          </p>
          <FoundSettingsContext value={found}>
            {status ? (
              opened.map((id) => (
                <div key={id} id={elementIdOf(id)} className={classes.section} data-is-shown={isShown(id)}>
                  {parts[id]}
                </div>
              ))
            ) : (
              <ListSkeleton rows={4} rowHeight={120} />
            )}
          </FoundSettingsContext>
        </div>
      </div>
    </Screen>
  );
}

/** Instead of the section in the address, with the one that is probably meant. */
function NoSection({ asked, among }: { asked: string; among: readonly SectionId[] }) {
  const messages = useMessages();
  const meant = sectionOf(nearestName(asked, among));
  return (
    <GoneNote text={messages.noPage.section(asked)}>
      {meant && <Link href={`/settings?section=${meant}`}>{messages.noPage.meant(sectionTitle(meant, messages))}</Link>}
    </GoneNote>
  );
}

const elementIdOf = (id: SectionId) => `settings-${id}`;

/** The sections shown so far, in their order. They stay mounted, because one may have unsaved edits. */
function useOpened(shown: readonly SectionId[]): readonly SectionId[] {
  const [opened, setOpened] = useState<ReadonlySet<SectionId>>(new Set());
  const isComplete = shown.every((id) => opened.has(id));
  if (!isComplete) setOpened(new Set([...opened, ...shown]));
  return sectionIds.filter((id) => opened.has(id) || shown.includes(id));
}

interface SettingsGuideProps {
  /** All of them, or those that the search has found. */
  sections: readonly SectionId[];
  current: SectionId;
  search: string;
  onSearch(search: string): void;
}

const hrefOf = (id: SectionId) => `/settings?section=${id}`;

/**
 * The search box and the table of contents: links beside the section if there is room, otherwise a select above it.
 */
function SettingsGuide({ sections, current, search, onSearch }: SettingsGuideProps) {
  const messages = useMessages();
  const { settings: names } = messages;
  const [, goTo] = useLocation();
  const choose = (value: string) => {
    const id = sectionOf(value);
    if (id) goTo(hrefOf(id));
  };
  return (
    <div className={classes.guide}>
      <TextInput
        type="search"
        aria-label={names.search}
        placeholder={names.search}
        leftSection={<IconSearch size={14} aria-hidden />}
        rightSection={
          search && <CloseButton size={24} iconSize={12} aria-label={names.clearSearch} onClick={() => onSearch('')} />
        }
        value={search}
        onChange={(event) => onSearch(event.currentTarget.value)}
      />
      {sections.length > 0 && (
        <NativeSelect
          className={classes.narrow}
          aria-label={names.goTo}
          value={sections.includes(current) ? current : sections[0]}
          onChange={(event) => choose(event.currentTarget.value)}
          data={sections.map((id) => ({ value: id, label: sectionTitle(id, messages) }))}
        />
      )}
      <nav className={classes.wide} aria-label={names.contents}>
        <ul className={classes.list}>
          {sections.map((id) => (
            <li key={id}>
              <Link className={classes.link} href={hrefOf(id)} aria-current={id === current ? 'page' : undefined}>
                {sectionTitle(id, messages)}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
    </div>
  );
}
