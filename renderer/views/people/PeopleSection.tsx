import { Button, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import type { PersonView } from '../../../server/contract/people-views.ts';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { EmptyNote } from '../../components/feedback/EmptyNote.tsx';
import { ListSkeleton } from '../../components/feedback/ListSkeleton.tsx';
import section from '../../components/layout/Section.module.css';
import { Section } from '../../components/layout/Section.tsx';
import list from '../../components/lists/List.module.css';
import { useLocalization } from '../../messages/use-messages.ts';
import { useQuery } from '../../state/control/use-query.ts';
import classes from './People.module.css';
import { PersonRow } from './PersonRow.tsx';
import { SignOutDialog } from './SignOutDialog.tsx';

/** More people are shown only on request. */
const shownAtFirst = 50;
/** With fewer people than this, there is no search box. */
const leastToSearch = 8;

/** All people who have signed in, with their current roles. */
export function PeopleSection() {
  const { messages, formats } = useLocalization();
  const { people: names } = messages;
  const { answer: people, problem } = useQuery<'people'>({ type: 'people' });
  const [search, setSearch] = useState('');
  const [isAll, setAll] = useState(false);
  const [leaving, setLeaving] = useState<PersonView | null>(null);
  const [notice, setNotice] = useState('');
  const found = people?.filter((person) => matches(person, search)) ?? [];
  const shown = isAll ? found : found.slice(0, shownAtFirst);
  return (
    <Section title={names.title} count={people ? formats.number(people.length) : undefined}>
      {people && people.length >= leastToSearch && (
        <search className={classes.bar}>
          <TextInput
            size="xs"
            type="search"
            aria-label={names.search}
            placeholder={names.search}
            leftSection={<IconSearch size={14} aria-hidden />}
            value={search}
            onChange={({ currentTarget }) => setSearch(currentTarget.value)}
          />
        </search>
      )}
      {problem && <CommandProblem problem={problem} />}
      {!people && !problem && <ListSkeleton rows={3} rowHeight={60} />}
      {people?.length === 0 && <EmptyNote title={names.emptyTitle} next={names.emptyNext} />}
      {people && people.length > 0 && found.length === 0 && (
        <p className={section.text}>{names.noneFound(search.trim())}</p>
      )}
      <ul className={list.list}>
        {shown.map((person) => (
          <PersonRow
            key={person.id}
            person={person}
            onSignOut={() => {
              setNotice('');
              setLeaving(person);
            }}
          />
        ))}
      </ul>
      {shown.length < found.length && (
        <div className={classes.foot}>
          <Button size="xs" variant="default" onClick={() => setAll(true)}>
            {names.showAll(formats.number(found.length))}
          </Button>
        </div>
      )}
      <p className={notice ? section.text : classes.silent} role="status">
        {notice}
      </p>
      <SignOutDialog person={leaving} onClose={() => setLeaving(null)} onDone={setNotice} />
    </Section>
  );
}

function matches({ name, email }: PersonView, search: string): boolean {
  return `${name} ${email ?? ''}`.toLowerCase().includes(search.trim().toLowerCase());
}
