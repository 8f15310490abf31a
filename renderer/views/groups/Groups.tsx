/** The models that the keys of each group may use, and how their requests are routed. */

import { Button, Group, Stack, TextInput } from '@mantine/core';
import { IconPlus, IconTestPipe } from '@tabler/icons-react';
import { type FormEvent, memo, useState } from 'react';
import { Link, useRoute, useSearch } from 'wouter';
import type { GroupView } from '../../../server/contract/access-views.ts';
import { maxReported } from '../../../server/contract/find.ts';
import { LimitMeters } from '../../components/access/LimitMeters.tsx';
import { IconAction } from '../../components/buttons/IconAction.tsx';
import { ModalFrame } from '../../components/dialogs/ModalFrame.tsx';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { EmptyNote } from '../../components/feedback/EmptyNote.tsx';
import { ListSkeleton } from '../../components/feedback/ListSkeleton.tsx';
import { Screen } from '../../components/layout/Screen.tsx';
import { Panel } from '../../components/layout/Section.tsx';
import list from '../../components/lists/List.module.css';
import { ListEnd, ListSearch, useLongList } from '../../components/lists/LongList.tsx';
import { LockMark } from '../../components/locks/Lockable.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { useCount } from '../../state/control/use-found.ts';
import { useCanChange, useLocks, useRights } from '../../state/rights/use-rights.ts';
import { useHashLocation } from '../../state/window/hash-location.ts';
import { overlay } from '../../state/window/overlay.ts';
import { GroupDetail, KeysLink } from './GroupDetail.tsx';
import classes from './Groups.module.css';

export function Groups() {
  const [isOne, parameters] = useRoute<{ id: string }>('/groups/:id');
  return isOne ? <GroupDetail key={parameters.id} id={parameters.id} /> : <GroupList />;
}

/** All groups with what they allow, and a button to create one. */
function GroupList() {
  const { groups: names, longList } = useMessages();
  const count = useCount('group');
  const { answer, problem, search, setSearch, showMore } = useLongList('group');
  const canChange = useCanChange();
  const lock = useLocks().adding('groups');
  // `/groups?new` opens the dialog too.
  const isAskedFor = new URLSearchParams(useSearch()).has('new');
  const [isCreating, setCreating] = useState(false);
  const [, goTo] = useHashLocation();
  const close = () => {
    setCreating(false);
    if (isAskedFor) goTo('/groups', { replace: true });
  };
  const create = (
    <>
      <LockMark lock={lock} />
      <Button
        size="xs"
        leftSection={<IconPlus size={14} />}
        disabled={!canChange || lock !== null}
        onClick={() => setCreating(true)}
      >
        {names.create}
      </Button>
    </>
  );
  return (
    <Screen name="groups" count={count ?? undefined} lead={count !== null && count < 2 && names.lead} action={create}>
      <Panel name="groups">
        {!answer && !problem && <ListSkeleton rows={2} rowHeight={60} />}
        {problem && <CommandProblem problem={problem} />}
        <ListSearch label={longList.searchGroups} count={count ?? 0} value={search} onChange={setSearch} />
        {count === 0 && <EmptyNote title={names.emptyTitle} next={names.emptyNext} />}
        <ul className={list.list}>
          {answer?.found.map((group) => (
            <GroupRow key={group.id} group={group} />
          ))}
        </ul>
        {answer && count !== 0 && (
          <ListEnd shown={answer.found.length} total={answer.total} most={maxReported} onMore={showMore} />
        )}
      </Panel>
      <ModalFrame opened={isCreating || isAskedFor} onClose={close} title={names.createTitle}>
        <CreateGroup onCancel={close} onCreated={(id) => goTo(`/groups/${id}`, { discardEdits: true })} />
      </ModalFrame>
    </Screen>
  );
}

const GroupRow = memo(function GroupRow({ group }: { group: GroupView }) {
  const lock = useLocks().removing('groups', group.id);
  const { manages } = useRights();
  const messages = useMessages();
  const names = messages.groups;
  return (
    <li className={list.plain}>
      <div className={list.text}>
        <div className={list.head}>
          <Link href={`/groups/${group.id}`} className={classes.name}>
            {group.name ?? group.id}
          </Link>
          <KeysLink group={group} />
          <LockMark lock={lock} />
          {group.capture && <span className={`${list.tag} ${classes.tag}`}>{names.captures}</span>}
          {group.cassette && (
            <span className={`${list.tag} ${classes.tag}`}>{messages.cassettes.tags[group.cassette.mode]}</span>
          )}
        </div>
        <div className={list.detail}>
          <Allowed patterns={group.models} />
          {group.deny.length > 0 && (
            <>
              {` · ${names.denies} `}
              <span className={list.mono}>{group.deny.join(', ')}</span>
            </>
          )}
        </div>
        <LimitMeters meters={group.limitUse} />
      </div>
      {manages(group.id) && (
        <IconAction
          label={messages.testing.of(group.name ?? group.id)}
          icon={<IconTestPipe size={16} />}
          onClick={() => overlay.openTesting({ kind: 'group', id: group.id })}
        />
      )}
    </li>
  );
});

function Allowed({ patterns }: { patterns: readonly string[] }) {
  const { groups: names } = useMessages();
  if (patterns.includes('*')) return names.allowsAll;
  if (patterns.length === 0) return names.allowsNone;
  return (
    <>
      {names.allows} <span className={list.mono}>{patterns.join(', ')}</span>
    </>
  );
}

interface CreateGroupProps {
  onCancel(): void;
  onCreated(id: string): void;
}

/** Creates a group by its name. It allows everything until it is edited. */
function CreateGroup({ onCancel, onCreated }: CreateGroupProps) {
  const { groups: names, cancel } = useMessages();
  const [name, setName] = useState('');
  const command = useCommand();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const result = await command.run({ type: 'group.put', group: { name: name.trim() } });
    if (result) onCreated(result.group.id);
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="sm">
        <TextInput
          label={names.name}
          description={names.createHint}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          maxLength={200}
          autoComplete="off"
          data-autofocus
        />
        {command.problem && <CommandProblem problem={command.problem} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onCancel}>
            {cancel}
          </Button>
          <Button type="submit" loading={command.isRunning} disabled={name.trim() === ''}>
            {names.createConfirm}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
