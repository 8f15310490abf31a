import { Button } from '@mantine/core';
import { useState } from 'react';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { EmptyNote } from '../../components/feedback/EmptyNote.tsx';
import { ListSkeleton } from '../../components/feedback/ListSkeleton.tsx';
import { Section } from '../../components/layout/Section.tsx';
import list from '../../components/lists/List.module.css';
import { FilterSelect } from '../../components/selects/FilterSelect.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { useQuery } from '../../state/control/use-query.ts';
import { AuditRow } from './AuditRow.tsx';
import classes from './People.module.css';

const entriesPerPage = 50;
/** Not the id of a person. */
const ofMachine = 'machine';

/** Who changed what, latest first. */
export function AuditSection() {
  const { audit: names, people: peopleNames } = useMessages();
  const { answer: people } = useQuery<'people'>({ type: 'people' });
  const [author, setAuthor] = useState('');
  /** The starts of the pages after the first one, up to the current page. */
  const [starts, setStarts] = useState<readonly number[]>([]);
  const before = starts.at(-1);
  const revision = useControlState(({ views }) => views?.status.revision ?? null);
  const { answer: page, problem } = useQuery<'audit'>(
    {
      type: 'audit',
      limit: entriesPerPage,
      ...(author !== '' && { personId: author === ofMachine ? null : author }),
      ...(before !== undefined && { before }),
    },
    revision,
  );
  const personNames = new Map(people?.map(({ id, name }) => [id, name]));
  const next = page?.next ?? null;
  return (
    <Section title={peopleNames.tabs.audit}>
      <search className={classes.bar}>
        <FilterSelect
          label={names.filter}
          any={names.everybody}
          options={[
            { value: ofMachine, label: names.machine },
            ...(people ?? []).map(({ id, name }) => ({ value: id, label: name })),
          ]}
          value={author}
          onChange={(chosen) => {
            setAuthor(chosen);
            setStarts([]);
          }}
        />
      </search>
      {problem && <CommandProblem problem={problem} />}
      {!page && !problem && <ListSkeleton rows={5} rowHeight={56} />}
      {page?.entries.length === 0 && <EmptyNote title={names.emptyTitle} next={names.emptyNext} />}
      <ul className={list.list}>
        {page?.entries.map((entry) => (
          <AuditRow key={entry.seq} entry={entry} personNames={personNames} />
        ))}
      </ul>
      {(starts.length > 0 || next !== null) && (
        <nav className={classes.foot} aria-label={names.pages}>
          <Button
            size="xs"
            variant="default"
            disabled={starts.length === 0}
            onClick={() => setStarts(starts.slice(0, -1))}
          >
            {names.newer}
          </Button>
          <Button
            size="xs"
            variant="default"
            disabled={next === null}
            onClick={() => next !== null && setStarts([...starts, next])}
          >
            {names.older}
          </Button>
        </nav>
      )}
    </Section>
  );
}
