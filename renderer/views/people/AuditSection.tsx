import { Button } from '@mantine/core';
import { useState } from 'react';
import type { AuditEntry } from '../../../server/contract/people-views.ts';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { EmptyNote } from '../../components/feedback/EmptyNote.tsx';
import { ListSkeleton } from '../../components/feedback/ListSkeleton.tsx';
import { ChangeList } from '../../components/import/ChangeList.tsx';
import { Section } from '../../components/layout/Section.tsx';
import list from '../../components/lists/List.module.css';
import { FilterSelect } from '../../components/selects/FindSelect.tsx';
import type { Messages } from '../../messages/en/en.ts';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { useQuery } from '../../state/control/use-query.ts';
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

interface AuditRowProps {
  entry: AuditEntry;
  /** By id. */
  personNames: ReadonlyMap<string, string>;
}

/** Who did what and when, in one line; the changes can be unfolded. */
function AuditRow({ entry, personNames }: AuditRowProps) {
  const { messages, formats } = useLocalization();
  const { audit: names } = messages;
  const { at, personId, personName, address, tokenId, changes } = entry;
  const author = personId === null ? names.machine : (personName ?? personId);
  // A single change without fields is already described by the line itself.
  const hasDetails = changes.length > 1 || changes.some(({ fields }) => fields.length > 0);
  const from = [
    ...(address === null ? [] : [names.from(address)]),
    ...(tokenId === null ? [] : [`${names.byToken} ${tokenId}`]),
  ];
  return (
    <li className={list.plain}>
      <div>
        <span className={list.name}>{author}</span> {describeAuditEntry(entry, personNames, names)}
        {from.length > 0 && <div className={list.detail}>{from.join(' · ')}</div>}
      </div>
      <time className={classes.time} dateTime={new Date(at).toISOString()} title={formats.fullMoment(at)}>
        {formats.dayAndClock(at)}
      </time>
      {hasDetails && (
        <details className={classes.details}>
          <summary>{names.details(changes.length, formats.number(changes.length))}</summary>
          <div className={classes.changes}>
            <ChangeList changes={changes} />
          </div>
        </details>
      )}
    </li>
  );
}

/** Describes an action in plain words. An entry written by another version of Sluice may name an unknown command. */
function describeAuditEntry(
  { action, target, changes }: Pick<AuditEntry, 'action' | 'target' | 'changes'>,
  personNames: ReadonlyMap<string, string>,
  { actions, other }: Messages['audit'],
): string {
  const targetId =
    changes.length > 1 && action !== 'person.revoke'
      ? [...new Set(changes.map(({ name }) => name))].join(', ')
      : (target ?? '');
  const targetName = personNames.get(targetId) ?? targetId;
  const describe: ((target: string) => string) | undefined = Object.hasOwn(actions, action)
    ? actions[action as keyof typeof actions]
    : undefined;
  return (describe?.(targetName) ?? other(action, targetName)).trimEnd();
}
