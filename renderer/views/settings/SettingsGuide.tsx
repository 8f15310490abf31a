import { CloseButton, NativeSelect, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { Link, useLocation } from 'wouter';
import { useMessages } from '../../messages/use-messages.ts';
import { type SectionId, sectionOf } from '../../state/window/section-ids.ts';
import classes from './SettingsGuide.module.css';
import { sectionTitle } from './search/settings-sections.ts';

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
export function SettingsGuide({ sections, current, search, onSearch }: SettingsGuideProps) {
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
        rightSection={search && <CloseButton size="xs" aria-label={names.clearSearch} onClick={() => onSearch('')} />}
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
