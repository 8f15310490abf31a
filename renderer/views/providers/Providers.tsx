/** The list of providers with their health, or the settings of one. */

import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { useLocation, useRoute, useSearch } from 'wouter';
import { EmptyNote } from '../../components/feedback/EmptyNote.tsx';
import { ListSkeleton } from '../../components/feedback/ListSkeleton.tsx';
import { Screen } from '../../components/layout/Screen.tsx';
import { LockMark } from '../../components/locks/Lockable.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { useQuery } from '../../state/control/use-query.ts';
import { providerRows } from '../../state/providers/providers.ts';
import { useCanChange, useLocks } from '../../state/rights/use-rights.ts';
import { AddProvider, type Stage } from './adding/AddProvider.tsx';
import { EnvironmentSection } from './adding/EnvironmentOffers.tsx';
import { draftOf } from './adding/provider-draft.ts';
import { JoinButton } from './joining/JoinDialog.tsx';
import { ProviderCard } from './ProviderCard.tsx';
import { ProviderDetail } from './ProviderDetail.tsx';
import classes from './Providers.module.css';
import { activityIn, useProviderActivity } from './provider-state.ts';

export function Providers() {
  const [isOne, parameters] = useRoute<{ id: string }>('/providers/:id');
  return isOne ? <ProviderDetail key={parameters.id} id={parameters.id} /> : <ProviderList />;
}

const firstStage: Stage = { name: 'pick' };

/** All providers as cards, with a button to add one. */
function ProviderList() {
  const { providers: names } = useMessages();
  const providers = useControlState((state) => state.views?.providers ?? null);
  const status = useControlState((state) => state.views?.status ?? null);
  const activity = useProviderActivity();
  const canChange = useCanChange();
  const lock = useLocks().adding('providers');
  const canAdd = canChange && lock === null;
  const [openedStage, setAdding] = useState<Stage | null>(null);
  // `/providers?add` also opens the dialog, even while this screen is shown.
  const search = new URLSearchParams(useSearch());
  const isAddRequested = search.has('add');
  const isOfGuide = search.get('add') === 'guide';
  const linked = useLinkedStage(search);
  const [, goTo] = useLocation();
  const adding = openedStage ?? (isAddRequested ? linked : null);
  const close = () => {
    setAdding(null);
    if (isAddRequested) goTo('/providers', { replace: true });
  };
  // The first steps ask for a service by name, and go on where they are.
  const firstKey = useFirstKey();
  const kept = () => {
    if (!isOfGuide) return close();
    firstKey.create();
    goTo('/', { replace: true });
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
          onTry={(draft) => setAdding({ name: 'try', draft })}
          onPick={(draft) => setAdding({ name: 'connect', draft })}
        />
      )}
      <AddProvider first={adding} onClose={close} onKept={kept} />
    </Screen>
  );
}

/**
 * Where adding a provider begins when the address asks for it: `/providers?add`, or, from a link of Sluice, with
 * `&preset=openrouter` or `&address=https://…&name=…` filled in; an empty address asks for the form. Nothing is asked of the address before the person tests it.
 * Null while the preset is being looked up.
 */
function useLinkedStage(search: URLSearchParams): Stage | null {
  const presetId = search.get('preset');
  const address = search.get('address');
  const name = search.get('name') ?? '';
  const isOfGuide = search.get('add') === 'guide';
  const presets = useQuery<'presets'>(presetId === null ? null : { type: 'presets' });
  const { answer, problem } = presets;
  return useMemo(() => {
    if (address !== null)
      return { name: 'connect', draft: { ...draftOf({ address }), name }, isLinked: `${address}${name}` !== '' };
    if (presetId === null) return { name: 'pick' };
    if (answer === null && problem === null) return null;
    const preset = answer?.find(({ id }) => id === presetId);
    return preset ? { name: 'connect', draft: draftOf({ preset }), isLinked: !isOfGuide } : { name: 'pick' };
  }, [address, name, presetId, isOfGuide, answer, problem]);
}

/** Whoever has no key yet needs one for the next of the first steps. */
function useFirstKey(): { create(): void } {
  const { firstCall: names } = useMessages();
  const hasNone = useControlState(({ views }) => views?.keyCount === 0);
  const command = useCommand();
  return {
    create() {
      if (hasNone) void command.run({ type: 'key.create', name: names.firstKeyName, keepSecret: true });
    },
  };
}
