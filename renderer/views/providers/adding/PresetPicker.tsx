import { Button, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import type { DetectedServer, Preset } from '../../../../server/contract/preset.ts';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { ListSkeleton } from '../../../components/feedback/ListSkeleton.tsx';
import { useLocalization, useMessages } from '../../../messages/use-messages.ts';
import { useQuery } from '../../../state/control/use-query.ts';
import classes from '../Providers.module.css';
import { EnvironmentOffers } from './EnvironmentOffers.tsx';
import { ProviderMark } from './ProviderMark.tsx';
import type { Choice } from './provider-choice.ts';

interface PresetPickerProps {
  onPick(choice: Choice): void;
  /** Called if no further input was needed. */
  onAdded(id: string): void;
}

/** The first step: choosing a service. */
export function PresetPicker({ onPick, onAdded }: PresetPickerProps) {
  const { add: names } = useMessages().providers;
  const [search, setSearch] = useState('');
  const { answer, problem } = useQuery<'presets'>({ type: 'presets' });
  // The `custom` preset adds nothing to the form for a custom service.
  const presets = answer?.filter(({ id }) => id !== 'custom');
  const { answer: servers } = useQuery<'local-servers'>({ type: 'local-servers' });
  const isFound = (preset: Preset) => matches(preset, search, names.presetNames[preset.id]);
  const found = presets?.filter(isFound) ?? [];
  const local = (servers ?? []).flatMap((server) => {
    const preset = presets?.find(({ id }) => id === server.preset);
    return preset && isFound(preset) ? [{ preset, found: server }] : [];
  });
  return (
    <div className={classes.picker}>
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
      {problem && <CommandProblem problem={problem} />}
      {!presets && !problem && <ListSkeleton rows={5} rowHeight={44} />}
      {presets && search === '' && <EnvironmentOffers presets={presets} onAdded={onAdded} onPick={onPick} />}
      {presets && (
        <div className={classes.choices}>
          {local.map((choice) => (
            <PresetChoice key={choice.found.baseUrl} {...choice} onPick={() => onPick(choice)} />
          ))}
          {found.map((preset) => (
            <PresetChoice key={preset.id} preset={preset} onPick={() => onPick({ preset })} />
          ))}
          {found.length === 0 && <p className={classes.soft}>{names.noneFound(search)}</p>}
        </div>
      )}
      <Button variant="default" onClick={() => onPick('custom')}>
        {names.custom}
      </Button>
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
        <ProviderMark preset={preset.id} name={preset.name} />
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
