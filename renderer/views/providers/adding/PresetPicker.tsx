import { Button, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import { cleanBaseUrl } from '../../../../server/contract/address.ts';
import type { DetectedServer, Preset } from '../../../../server/contract/preset.ts';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { ListSkeleton } from '../../../components/feedback/ListSkeleton.tsx';
import { useLocalization, useMessages } from '../../../messages/use-messages.ts';
import { useQuery } from '../../../state/control/use-query.ts';
import classes from '../Providers.module.css';
import { OfferList, useOffers } from './EnvironmentOffers.tsx';
import { ProviderMark } from './ProviderMark.tsx';
import { draftOf, looksLikeAddress, type ProviderDraft } from './provider-draft.ts';

interface PresetPickerProps {
  onPick(draft: ProviderDraft): void;
  /** Called if no further input is needed. */
  onTry(draft: ProviderDraft): void;
}

/** The first step: choosing a service, by its name or by its address. */
export function PresetPicker({ onPick, onTry }: PresetPickerProps) {
  const { add: names } = useMessages().providers;
  const [search, setSearch] = useState('');
  const { answer, problem } = useQuery<'presets'>({ type: 'presets' });
  // The `custom` preset adds nothing to the form for a custom service.
  const presets = answer?.filter(({ id }) => id !== 'custom');
  const found = presets?.filter((preset) => matches(preset, search, names.presetNames[preset.id])) ?? [];
  const address = looksLikeAddress(search) ? search.trim() : null;
  const custom = () => onPick(draftOf({ address: address ?? '' }));
  return (
    <form
      className={classes.picker}
      onSubmit={(event) => {
        event.preventDefault();
        if (address !== null) custom();
      }}
    >
      <TextInput
        type="search"
        label={names.search}
        placeholder={names.searchPlaceholder}
        leftSection={<IconSearch size={16} />}
        value={search}
        onChange={(event) => setSearch(event.currentTarget.value)}
        autoComplete="off"
        data-autofocus
      />
      <Button variant={address === null ? 'default' : 'filled'} onClick={custom} className={classes.start}>
        {address === null ? names.custom : names.takeAddress(cleanBaseUrl(address))}
      </Button>
      {problem && <CommandProblem problem={problem} />}
      {!presets && !problem && <ListSkeleton rows={5} rowHeight={44} />}
      {presets && address === null && (
        <>
          <FoundHere presets={presets} search={search} onPick={onPick} onTry={onTry} />
          <div className={classes.choices}>
            {found.map((preset) => (
              <PresetChoice key={preset.id} preset={preset} onPick={() => onPick(draftOf({ preset }))} />
            ))}
            {found.length === 0 && <p className={classes.soft}>{names.noneFound(search)}</p>}
          </div>
        </>
      )}
    </form>
  );
}

/** Model servers that are running on this machine, and credentials in the environment. */
function FoundHere({ presets, search, ...acts }: PresetPickerProps & { presets: readonly Preset[]; search: string }) {
  const { add: names } = useMessages().providers;
  const { answer: servers } = useQuery<'local-servers'>({ type: 'local-servers' });
  const isFound = (preset: Preset) => matches(preset, search, names.presetNames[preset.id]);
  const local = (servers ?? []).flatMap((found) => {
    const preset = presets.find(({ id }) => id === found.preset);
    return preset && isFound(preset) ? [{ preset, found }] : [];
  });
  const offers = useOffers(presets).filter(({ preset }) => isFound(preset));
  if (local.length === 0 && offers.length === 0) return null;
  return (
    <div className={classes.offers}>
      <h3 className={classes.offersTitle}>{names.foundHere}</h3>
      {local.map((choice) => (
        <PresetChoice
          key={choice.found.baseUrl}
          {...choice}
          onPick={() => (choice.found.needsCredential ? acts.onPick : acts.onTry)(draftOf(choice))}
        />
      ))}
      {offers.length > 0 && <OfferList offers={offers} {...acts} />}
    </div>
  );
}

function matches({ id, name, baseUrl }: Preset, search: string, translatedName = ''): boolean {
  return `${id} ${name} ${translatedName} ${baseUrl}`.toLowerCase().includes(search.trim().toLowerCase());
}

interface PresetChoiceProps {
  preset: Preset;
  found?: DetectedServer;
  onPick(): void;
}

function PresetChoice({ preset, found, onPick }: PresetChoiceProps) {
  const { messages, formats } = useLocalization();
  const names = messages.providers.add;
  return (
    <button type="button" className={classes.choice} onClick={onPick}>
      <span className={classes.choiceName}>
        <ProviderMark preset={preset.id} />
        {found?.name ?? names.presetNames[preset.id] ?? preset.name}
        {found && <span className={classes.tagGood}>{names.answersNow}</span>}
        {!found && preset.isLocal && <span className={classes.tag}>{names.local}</span>}
      </span>
      <span className={classes.mono}>{found?.baseUrl ?? preset.baseUrl}</span>
      {found && !found.needsCredential && (
        <span className={classes.soft}>
          {messages.providers.modelCount(found.models.length, formats.number(found.models.length))}
        </span>
      )}
    </button>
  );
}
