import { Button } from '@mantine/core';
import { IconPencil, IconPlus, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import type { AliasView } from '../../../../server/contract/access-views.ts';
import { IconAction } from '../../../components/buttons/IconAction.tsx';
import { CommandDialog } from '../../../components/dialogs/ConfirmDialog.tsx';
import { ModalFrame } from '../../../components/dialogs/ModalFrame.tsx';
import { EmptyNote } from '../../../components/feedback/EmptyNote.tsx';
import { ListSkeleton } from '../../../components/feedback/ListSkeleton.tsx';
import { Section } from '../../../components/layout/Section.tsx';
import list from '../../../components/lists/List.module.css';
import { LockMark } from '../../../components/locks/Lockable.tsx';
import { useLocalization, useMessages } from '../../../messages/use-messages.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { useProviderName } from '../../../state/providers/providers.ts';
import { useCanChange, useLocks } from '../../../state/rights/use-rights.ts';
import classes from '../Models.module.css';
import { ModelNameButton } from '../route/RouteSection.tsx';
import { AliasForm } from './AliasForm.tsx';
import { ranksOf, type SharedTarget } from './alias-draft.ts';

/** The list of aliases, with actions to create, edit and remove them. */
export function AliasesSection({ onExplain }: { onExplain(model: string): void }) {
  const { messages, formats } = useLocalization();
  const names = messages.models.alias;
  const aliases = useControlState((state) => state.views?.aliases ?? null);
  const canChange = useCanChange();
  const lock = useLocks().adding('aliases');
  const [editing, setEditing] = useState<{ alias: AliasView | null } | null>(null);
  const [removing, setRemoving] = useState<AliasView | null>(null);
  const create = (
    <>
      <LockMark lock={lock} />
      <Button
        size="xs"
        variant="default"
        leftSection={<IconPlus size={14} />}
        disabled={!canChange || lock !== null}
        onClick={() => setEditing({ alias: null })}
      >
        {names.create}
      </Button>
    </>
  );
  return (
    <Section title={names.title} count={aliases ? formats.number(aliases.length) : undefined} action={create}>
      {!aliases && <ListSkeleton rows={2} rowHeight={60} />}
      {aliases?.length === 0 && <EmptyNote title={names.emptyTitle} next={names.emptyNext} />}
      <ul className={list.list}>
        {aliases?.map((alias) => (
          <AliasRow
            key={alias.name}
            alias={alias}
            onExplain={() => onExplain(alias.name)}
            onEdit={() => setEditing({ alias })}
            onRemove={() => setRemoving(alias)}
          />
        ))}
      </ul>
      <ModalFrame
        opened={editing !== null}
        onClose={() => setEditing(null)}
        title={editing?.alias ? names.editTitle : names.createTitle}
        width="wide"
      >
        <AliasForm alias={editing?.alias ?? null} onClose={() => setEditing(null)} />
      </ModalFrame>
      <RemoveAlias alias={removing} onClose={() => setRemoving(null)} />
    </Section>
  );
}

interface AliasRowProps {
  alias: AliasView;
  onExplain(): void;
  onEdit(): void;
  onRemove(): void;
}

function AliasRow({ alias, onExplain, onEdit, onRemove }: AliasRowProps) {
  const { alias: names } = useMessages().models;
  const locks = useLocks();
  const changeLock = locks.changing('aliases', alias.name, 'targets');
  const removalLock = locks.removing('aliases', alias.name);
  const canChange = useCanChange();
  return (
    <li className={list.plain}>
      <div className={classes.aliasText}>
        <ModelNameButton name={alias.name} onExplain={onExplain} />
        <AliasFlow alias={alias} />
        <LockMark lock={changeLock ?? removalLock} />
      </div>
      <div className={list.actions}>
        <IconAction
          label={names.edit(alias.name)}
          icon={<IconPencil size={18} />}
          isDisabled={!canChange || changeLock !== null}
          onClick={onEdit}
        />
        <IconAction
          label={names.remove(alias.name)}
          icon={<IconTrash size={18} />}
          isDisabled={!canChange || removalLock !== null}
          onClick={onRemove}
        />
      </div>
    </li>
  );
}

/** Asks for confirmation before an alias is removed; null while there is nothing to confirm. */
function RemoveAlias({ alias, onClose }: { alias: AliasView | null; onClose(): void }) {
  const { alias: names } = useMessages().models;
  return (
    <CommandDialog
      command={alias && { type: 'alias.remove', name: alias.name }}
      title={names.removeTitle}
      text={alias ? names.removeText(alias.name) : ''}
      confirm={names.removeConfirm}
      onClose={onClose}
    />
  );
}

/** The targets of an alias: ranks that are tried in order, and the share of requests of each target within a rank. */
function AliasFlow({ alias }: { alias: AliasView }) {
  const { models } = useLocalization().messages;
  return (
    <ol className={classes.ranks} aria-label={models.alias.leadsTo(alias.name)}>
      {ranksOf(alias).map((rank) => (
        <li key={rank.map(({ provider, model }) => `${provider}/${model}`).join()} className={classes.rank}>
          {rank.length > 1 && <Shares rank={rank} />}
          {rank.map((target) => (
            <Target key={`${target.provider}/${target.model}`} target={target} isShared={rank.length > 1} />
          ))}
        </li>
      ))}
    </ol>
  );
}

function Shares({ rank }: { rank: readonly SharedTarget[] }) {
  return (
    <span className={classes.bar} aria-hidden>
      {rank.map(({ provider, model, share }) => (
        <span key={`${provider}/${model}`} className={classes.share} style={{ flexGrow: share }} />
      ))}
    </span>
  );
}

function Target({ target, isShared }: { target: SharedTarget; isShared: boolean }) {
  const { formats } = useLocalization();
  const providerName = useProviderName();
  return (
    <span className={classes.flowTarget}>
      {isShared && <span className={classes.percent}>{formats.percent(target.share)} </span>}
      {providerName(target.provider)} <span className={classes.flowModel}>{target.model}</span>
    </span>
  );
}
