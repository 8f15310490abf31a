import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { GroupView } from '../../../server/contract/views.ts';
import { EmptyNote } from '../../components/EmptyNote.tsx';
import list from '../../components/List.module.css';
import { ListSkeleton } from '../../components/ListSkeleton.tsx';
import { ModalFrame } from '../../components/ModalFrame.tsx';
import { Screen } from '../../components/Screen.tsx';
import { Section } from '../../components/Section.tsx';
import { useLocalization } from '../../messages/use-messages.ts';
import { useCanChange } from '../../state/use-can-change.ts';
import { useControlState } from '../../state/use-control.ts';
import { CreateGroup } from './CreateGroup.tsx';
import classes from './Groups.module.css';

/** Every group with what it allows; to make one. */
export function GroupList() {
  const { messages, formats } = useLocalization();
  const names = messages.groups;
  const groups = useControlState((state) => state.views?.groups ?? null);
  const canChange = useCanChange();
  const [isCreating, setCreating] = useState(false);
  const [, goTo] = useLocation();
  const create = (
    <Button size="xs" leftSection={<IconPlus size={14} />} disabled={!canChange} onClick={() => setCreating(true)}>
      {names.create}
    </Button>
  );
  return (
    <Screen name="groups" action={create}>
      <Section title={names.title} count={groups ? formats.number(groups.length) : undefined}>
        {!groups && <ListSkeleton rows={2} rowHeight={60} />}
        {groups?.length === 0 && <EmptyNote title={names.emptyTitle} next={names.emptyNext} />}
        <ul className={list.list}>
          {groups?.map((group) => (
            <GroupRow key={group.id} group={group} />
          ))}
        </ul>
      </Section>
      <ModalFrame opened={isCreating} onClose={() => setCreating(false)} title={names.createTitle}>
        <CreateGroup onCancel={() => setCreating(false)} onCreated={(id) => goTo(`/groups/${id}`)} />
      </ModalFrame>
    </Screen>
  );
}

function GroupRow({ group }: { group: GroupView }) {
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
        {group.capture && <span className={`${list.tag} ${classes.tag}`}>{names.captures}</span>}
      </div>
      <div className={list.detail}>
        {names.allows} <span className={list.mono}>{group.models.join(', ') || names.nothing}</span>
        {group.deny.length > 0 && (
          <>
            {` · ${names.denies} `}
            <span className={list.mono}>{group.deny.join(', ')}</span>
          </>
        )}
      </div>
    </li>
  );
}
