import { Button, SimpleGrid, Stack, Switch } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { GroupView } from '../../../server/contract/access-views.ts';
import type { CacheSettings } from '../../../server/contract/answer-cache.ts';
import { largestCacheBytes, longestCacheSeconds } from '../../../server/contract/bounds.ts';
import type { Lock } from '../../../server/contract/lock.ts';
import { megabyte } from '../../../server/contract/units.ts';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { type CommandRunner, useCommand } from '../../state/control/use-command.ts';
import { useQuery } from '../../state/control/use-query.ts';
import { isEqual } from '../../state/edits/edits.ts';
import { CommandProblem } from '../feedback/CommandProblem.tsx';
import { DefaultedNumberInput } from '../forms/Fieldset.tsx';
import { Lockable } from '../locks/Lockable.tsx';
import classes from './Testing.module.css';

/** The defaults of the configuration. */
const usual: CacheSettings = { ttlSeconds: 3_600, maxBytes: 64_000_000, forced: false, coalesce: false };

interface CacheSectionProps {
  group: GroupView;
  lock: Lock | null;
  command: CommandRunner;
  onSave(cache: CacheSettings | null): void;
}

/** Whether equal requests are answered from memory, and the results so far. */
export function CacheSection({ group, lock, command, onSave }: CacheSectionProps) {
  const { groups, save } = useMessages();
  const names = groups.cache;
  const [cache, setCache] = useState(group.cache);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSave(cache);
  };
  return (
    <form onSubmit={submit}>
      <Lockable lock={lock}>
        <Stack gap="sm">
          <Switch
            label={names.on}
            description={names.onHint}
            checked={cache !== null}
            onChange={(event) => setCache(event.currentTarget.checked ? usual : null)}
          />
          {cache && <Settings cache={cache} onChange={(changes) => setCache({ ...cache, ...changes })} />}
          {command.problem && <CommandProblem problem={command.problem} />}
          <Button
            size="xs"
            variant="default"
            className={classes.start}
            type="submit"
            disabled={isEqual(cache, group.cache)}
            loading={command.isRunning}
          >
            {save}
          </Button>
          {group.cache && <Contents groupId={group.id} />}
        </Stack>
      </Lockable>
    </form>
  );
}

interface SettingsProps {
  cache: CacheSettings;
  onChange(changes: Partial<CacheSettings>): void;
}

function Settings({ cache, onChange }: SettingsProps) {
  const { cache: names } = useMessages().groups;
  return (
    <>
      <SimpleGrid cols={2} spacing="sm" className={classes.level}>
        <DefaultedNumberInput
          label={names.ttl}
          defaultNumber={usual.ttlSeconds}
          min={1}
          max={longestCacheSeconds}
          allowDecimal={false}
          clampBehavior="strict"
          value={cache.ttlSeconds}
          onChange={(ttlSeconds) => onChange({ ttlSeconds })}
        />
        <DefaultedNumberInput
          label={names.size}
          defaultNumber={usual.maxBytes / megabyte}
          min={1}
          max={largestCacheBytes / megabyte}
          allowDecimal={false}
          clampBehavior="strict"
          value={Math.max(1, Math.round(cache.maxBytes / megabyte))}
          onChange={(megabytes) => onChange({ maxBytes: megabytes * megabyte })}
        />
      </SimpleGrid>
      <Switch
        label={names.coalesce}
        description={names.coalesceHint}
        checked={cache.coalesce}
        onChange={(event) => onChange({ coalesce: event.currentTarget.checked })}
      />
      <Switch
        label={names.forced}
        description={names.forcedHint}
        checked={cache.forced}
        onChange={(event) => onChange({ forced: event.currentTarget.checked })}
      />
    </>
  );
}

/** The current content of the cache, with the button that clears it. */
function Contents({ groupId }: { groupId: string }) {
  const { messages, formats } = useLocalization();
  const names = messages.groups.cache;
  const caches = useQuery<'caches'>({ type: 'caches' });
  const command = useCommand();
  const view = caches.answer?.find((each) => each.groupId === groupId);
  const clear = async () => {
    if (await command.run({ type: 'cache.clear', group: groupId })) caches.refetch();
  };
  if (!view) return null;
  const { entries, bytes, hits, shared, savedUsd } = view;
  return (
    <>
      <p role="status" className={classes.text}>
        {names.holds(entries, formats.number(entries), formats.bytes(bytes))}
        {' · '}
        {names.saved(hits + shared, formats.number(hits + shared), formats.dollars(savedUsd))}
      </p>
      {command.problem && <CommandProblem problem={command.problem} />}
      <Button
        variant="default"
        size="xs"
        className={classes.start}
        disabled={entries === 0}
        loading={command.isRunning}
        onClick={() => void clear()}
      >
        {names.clear}
      </Button>
    </>
  );
}
