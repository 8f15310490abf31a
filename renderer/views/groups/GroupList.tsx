import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'wouter';
import type { GroupView } from '../../../server/contract/access-views.ts';
import { EmptyNote } from '../../components/EmptyNote.tsx';
import { LimitMeters } from '../../components/LimitMeters.tsx';
import list from '../../components/List.module.css';
import { ListSkeleton } from '../../components/ListSkeleton.tsx';
import { LockMark } from '../../components/LockMark.tsx';
import { ListEnd, ListSearch, pageLength } from '../../components/LongList.tsx';
import { ModalFrame } from '../../components/ModalFrame.tsx';
import { Panel } from '../../components/Panel.tsx';
import { Screen } from '../../components/Screen.tsx';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useHashLocation } from '../../state/hash-location.ts';
import { useCanChange } from '../../state/use-can-change.ts';
import { useControlState } from '../../state/use-control.ts';
import { useLocks } from '../../state/use-locks.ts';
import { CreateGroup } from './CreateGroup.tsx';
import classes from './Groups.module.css';

/** All groups with what they allow, and a button to create one. */
export function GroupList() {
  const { groups: names, longList } = useMessages();
  const groups = useControlState((state) => state.views?.groups ?? null);
  const [search, setSearch] = useState('');
  const [limit, setLimit] = useState(pageLength);
  const wanted = search.trim().toLowerCase();
  const found = groups?.filter(({ id, name }) => `${name ?? ''}\n${id}`.toLowerCase().includes(wanted)) ?? [];
  const shown = found.slice(0, limit);
  const canChange = useCanChange();
  const lock = useLocks().adding('groups');
  const [isCreating, setCreating] = useState(false);
  const [, goTo] = useHashLocation();
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
    <Screen name="groups" count={groups?.length} lead={groups && groups.length < 2 && names.lead} action={create}>
      <Panel name="groups">
        {!groups && <ListSkeleton rows={2} rowHeight={60} />}
        <ListSearch label={longList.searchGroups} count={groups?.length ?? 0} value={search} onChange={setSearch} />
        {groups?.length === 0 && <EmptyNote title={names.emptyTitle} next={names.emptyNext} />}
        <ul className={list.list}>
          {shown.map((group) => (
            <GroupRow key={group.id} group={group} />
          ))}
        </ul>
        {groups && groups.length > 0 && (
          <ListEnd shown={shown.length} total={found.length} onMore={() => setLimit(limit + pageLength)} />
        )}
      </Panel>
      <ModalFrame opened={isCreating} onClose={() => setCreating(false)} title={names.createTitle}>
        <CreateGroup
          onCancel={() => setCreating(false)}
          onCreated={(id) => goTo(`/groups/${id}`, { discards: true })}
        />
      </ModalFrame>
    </Screen>
  );
}

function GroupRow({ group }: { group: GroupView }) {
  const lock = useLocks().removing('groups', group.id);
  const { messages, formats } = useLocalization();
  const names = messages.groups;
  return (
    <li className={classes.row}>
      <div className={list.head}>
        <Link href={`/groups/${group.id}`} className={classes.name}>
          {group.name ?? group.id}
        </Link>
        <span className={`${list.tag} ${classes.tag}`}>
          {names.keyCount(group.keyCount, formats.number(group.keyCount))}
        </span>
        <LockMark lock={lock} />
        {group.capture && <span className={`${list.tag} ${classes.tag}`}>{names.captures}</span>}
        {group.cassette && (
          <span className={`${list.tag} ${classes.tag}`}>{messages.cassettes.tags[group.cassette.mode]}</span>
        )}
      </div>
      <div className={list.detail}>
        {names.allows} <Patterns patterns={group.models} />
        {group.deny.length > 0 && (
          <>
            {` · ${names.denies} `}
            <span className={list.mono}>{group.deny.join(', ')}</span>
          </>
        )}
      </div>
      <LimitMeters meters={group.limitUse} />
    </li>
  );
}

function Patterns({ patterns }: { patterns: readonly string[] }) {
  const { groups: names } = useMessages();
  if (patterns.includes('*')) return names.everything;
  return patterns.length === 0 ? names.nothing : <span className={list.mono}>{patterns.join(', ')}</span>;
}
