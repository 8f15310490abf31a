import { Button, Stack, Switch, TextInput } from '@mantine/core';
import { IconGauge, IconLogout, IconSearch, IconUserOff } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import type { PersonView } from '../../../server/contract/people-views.ts';
import { LimitFields } from '../../components/access/AccessFields.tsx';
import { LimitMeters } from '../../components/access/LimitMeters.tsx';
import { budgetPeriods, limitsOf } from '../../components/access/limit-draft.ts';
import { IconAction } from '../../components/buttons/IconAction.tsx';
import { CommandDialog } from '../../components/dialogs/ConfirmDialog.tsx';
import { DialogActions, ModalFrame } from '../../components/dialogs/ModalFrame.tsx';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { EmptyNote } from '../../components/feedback/EmptyNote.tsx';
import { ListSkeleton } from '../../components/feedback/ListSkeleton.tsx';
import { Fieldset } from '../../components/forms/Fieldset.tsx';
import section from '../../components/layout/Section.module.css';
import { Section } from '../../components/layout/Section.tsx';
import list from '../../components/lists/List.module.css';
import { RelativeTime } from '../../components/text/RelativeTime.tsx';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { useQuery } from '../../state/control/use-query.ts';
import { describeRole, usePerson } from '../../state/rights/use-rights.ts';
import classes from './People.module.css';

/** More people are shown only on request. */
const shownAtFirst = 50;
/** With fewer people than this, there is no search box. */
const leastToSearch = 8;

/** All people who have signed in, with their current roles. */
export function PeopleSection() {
  const { messages, formats } = useLocalization();
  const { people: names } = messages;
  const revision = useControlState(({ views }) => views?.status.revision ?? null);
  const { answer: people, problem } = useQuery<'people'>({ type: 'people' }, revision);
  const [search, setSearch] = useState('');
  const [isAll, setAll] = useState(false);
  const [leaving, setLeaving] = useState<LeaveDialogsProps['leaving']>(null);
  const [limited, setLimited] = useState<PersonView | null>(null);
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
            onLimit={() => {
              setNotice('');
              setLimited(person);
            }}
            onLeave={(how) => {
              setNotice('');
              setLeaving({ person, how });
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
      <PersonLimitsDialog person={limited} onClose={() => setLimited(null)} onDone={setNotice} />
      <LeaveDialogs leaving={leaving} onClose={() => setLeaving(null)} onDone={setNotice} />
    </Section>
  );
}

function matches({ name, email }: PersonView, search: string): boolean {
  return `${name} ${email ?? ''}`.toLowerCase().includes(search.trim().toLowerCase());
}

interface LeaveDialogsProps {
  /** Whom to sign out, or to revoke all access of; null while there is nothing to confirm. */
  leaving: { person: PersonView; how: 'sign-out' | 'revoke' } | null;
  onClose(): void;
  /** Receives a sentence that says what was done. */
  onDone(notice: string): void;
}

/** Asks for confirmation before all sessions and API tokens of a person are ended, with or without their keys. */
function LeaveDialogs({ leaving, onClose, onDone }: LeaveDialogsProps) {
  const { people: names } = useMessages();
  const { person, how } = leaving ?? { person: null, how: null };
  return (
    <>
      <CommandDialog
        command={person && how === 'sign-out' ? { type: 'person.sign-out', id: person.id } : null}
        title={names.signOutTitle}
        text={person ? names.signOutText(person.name) : ''}
        confirm={names.signOutConfirm}
        onDone={({ ended }) => person && onDone(names.signedOut(person.name, ended))}
        onClose={onClose}
      />
      <CommandDialog
        command={person && how === 'revoke' ? { type: 'person.revoke', id: person.id } : null}
        title={names.revokeTitle}
        text={person ? names.revokeText(person.name) : ''}
        confirm={names.revokeConfirm}
        onDone={({ keys }) => person && onDone(names.revoked(person.name, keys.length))}
        onClose={onClose}
      />
    </>
  );
}

interface PersonRowProps {
  person: PersonView;
  onLimit(): void;
  onLeave(how: 'sign-out' | 'revoke'): void;
}

function PersonRow({ person, onLimit, onLeave }: PersonRowProps) {
  const { people: names, account } = useMessages();
  const isSelf = usePerson()?.id === person.id;
  const { name, email, signedInAt, checkedAt, isChecked } = person;
  return (
    <li className={list.plain}>
      <div>
        <div className={list.head}>
          <span className={list.name}>{name}</span>
          {isSelf && <span className={list.tag}>{names.you}</span>}
          {person.scim === 'disabled' && <span className={list.tag}>{names.disabled}</span>}
          {email !== null && email !== name && <span className={list.detail}>{email}</span>}
        </div>
        <div className={list.detail}>
          {describeRole(person, account) || names.noRole}
          {' · '}
          <RelativeTime moment={signedInAt} phrase={names.signedIn} />
          {' · '}
          {isChecked ? <RelativeTime moment={checkedAt} phrase={names.checked} /> : names.unchecked}
        </div>
        <LimitMeters meters={person.limitUse} />
      </div>
      <div className={list.actions}>
        <IconAction label={names.limit(name)} icon={<IconGauge size={16} />} onClick={onLimit} />
        <IconAction label={names.signOut(name)} icon={<IconLogout size={16} />} onClick={() => onLeave('sign-out')} />
        <IconAction label={names.revoke(name)} icon={<IconUserOff size={16} />} onClick={() => onLeave('revoke')} />
      </div>
    </li>
  );
}

interface PersonLimitsDialogProps {
  /** Null while it is closed. */
  person: PersonView | null;
  onClose(): void;
  onDone(notice: string): void;
}

/** Limits of a person over all of their keys. */
function PersonLimitsDialog({ person, onClose, onDone }: PersonLimitsDialogProps) {
  const { people: names } = useMessages();
  return (
    <ModalFrame title={names.limitTitle(person?.name ?? '')} opened={person !== null} onClose={onClose}>
      {person && <LimitsForm key={person.id} {...{ person, onClose, onDone }} />}
    </ModalFrame>
  );
}

/** A person has no total: their keys come and go. */
const periods = budgetPeriods.filter((per) => per !== 'total');

function LimitsForm({ person, onClose, onDone }: PersonLimitsDialogProps & { person: PersonView }) {
  const { people: names, limits: limitNames } = useMessages();
  const [isOwn, setOwn] = useState(person.hasOwnLimits);
  const [draft, setDraft] = useState(person.limits ?? undefined);
  const command = useCommand();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const limits = isOwn ? (limitsOf(draft) ?? {}) : null;
    if (!(await command.run({ type: 'person.limit', id: person.id, limits }))) return;
    onDone(names.limited(person.name));
    onClose();
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="sm">
        <Switch
          label={names.ownLimits}
          description={names.ownLimitsHint}
          checked={isOwn}
          onChange={({ currentTarget }) => setOwn(currentTarget.checked)}
        />
        {isOwn && (
          <Fieldset legend={limitNames.title} hint={names.limitHint}>
            <LimitFields limits={draft} periods={periods} onChange={setDraft} />
          </Fieldset>
        )}
        <DialogActions command={command} onLeave={onClose} />
      </Stack>
    </form>
  );
}
