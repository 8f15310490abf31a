/** For administrators, if people sign in: the people and how they are pushed, their API tokens, and the audit list. */
import { SegmentedControl } from '@mantine/core';
import { useSearchParams } from 'wouter';
import { GoneNote } from '../../components/feedback/EmptyNote.tsx';
import { Screen } from '../../components/layout/Screen.tsx';
import { TokensSection } from '../../components/tokens/TokensSection.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { AuditSection } from './AuditSection.tsx';
import { PeopleSection } from './PeopleSection.tsx';
import { ScimSection } from './ScimSection.tsx';

const parts = ['people', 'tokens', 'audit'] as const;

export function People() {
  const { people: names, noPage } = useMessages();
  const [search, setSearch] = useSearchParams();
  const asked = search.get('show');
  const named = parts.find((part) => part === asked);
  const shown = named ?? 'people';
  return (
    <Screen
      name="people"
      action={
        <SegmentedControl
          size="xs"
          aria-label={names.tabsLabel}
          data={parts.map((value) => ({ value, label: names.tabs[value] }))}
          value={shown}
          onChange={(show) => setSearch({ show }, { replace: true })}
        />
      }
    >
      {asked !== null && !named && <GoneNote text={noPage.list(asked)} />}
      {shown === 'people' && (
        <>
          <PeopleSection />
          <ScimSection />
        </>
      )}
      {shown === 'tokens' && <TokensSection of="all" />}
      {shown === 'audit' && <AuditSection />}
    </Screen>
  );
}
