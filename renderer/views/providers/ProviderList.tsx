import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { EmptyNote } from '../../components/EmptyNote.tsx';
import { ListSkeleton } from '../../components/ListSkeleton.tsx';
import { LockMark } from '../../components/LockMark.tsx';
import { Screen } from '../../components/Screen.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useCanChange } from '../../state/use-can-change.ts';
import { useControlState } from '../../state/use-control.ts';
import { useLocks } from '../../state/use-locks.ts';
import { AddProvider, type Stage } from './AddProvider.tsx';
import { EnvironmentSection } from './EnvironmentOffers.tsx';
import { JoinButton } from './joining/JoinButton.tsx';
import { ProviderCard } from './ProviderCard.tsx';
import classes from './Providers.module.css';
import { providerRows } from './provider-row.ts';
import { activityIn, useProviderActivity } from './use-provider-activity.ts';

const firstStage: Stage = { name: 'pick' };

/** All providers as cards, with a button to add one. */
export function ProviderList() {
  const { providers: names } = useMessages();
  const providers = useControlState((state) => state.views?.providers ?? null);
  const status = useControlState((state) => state.views?.status ?? null);
  const activity = useProviderActivity();
  const canChange = useCanChange();
  const lock = useLocks().adding('providers');
  const canAdd = canChange && lock === null;
  const [openedStage, setAdding] = useState<Stage | null>(null);
  // `/providers?add` also opens the dialog, even while this screen is shown.
  const isAddRequested = new URLSearchParams(useSearch()).has('add');
  const [, goTo] = useLocation();
  const adding = openedStage ?? (isAddRequested ? firstStage : null);
  const close = () => {
    setAdding(null);
    if (isAddRequested) goTo('/providers', { replace: true });
  };
  const add = (
    <>
      <LockMark lock={lock} />
      <JoinButton isDisabled={!canAdd} />
      <Button size="xs" leftSection={<IconPlus size={14} />} disabled={!canAdd} onClick={() => setAdding(firstStage)}>
        {names.add.open}
      </Button>
    </>
  );
  return (
    <Screen name="providers" lead={providers && providers.length < 2 && names.lead} action={add}>
      {!providers && <ListSkeleton rows={2} rowHeight={120} />}
      {providers?.length === 0 && <EmptyNote title={names.emptyTitle} next={names.emptyNext} />}
      {providers && status && (
        <ul className={classes.cards}>
          {providerRows({ providers, status }).map((row) => (
            <ProviderCard key={row.id} row={row} activity={activityIn(activity, row.id)} />
          ))}
        </ul>
      )}
      {canAdd && (
        <EnvironmentSection
          onAdded={(id) => setAdding({ name: 'probe', id })}
          onPick={(choice) => setAdding({ name: 'connect', choice })}
        />
      )}
      <AddProvider first={adding} onClose={close} />
    </Screen>
  );
}
