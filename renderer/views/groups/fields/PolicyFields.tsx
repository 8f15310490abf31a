import { Button, Collapse, NativeSelect, NumberInput, SimpleGrid, Stack, Switch } from '@mantine/core';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { useState } from 'react';
import { longestTimeoutMs, mostAttempts } from '../../../../server/contract/bounds.ts';
import type { Policy } from '../../../../server/contract/policy.ts';
import { secondMs } from '../../../../server/contract/units.ts';
import { CollapsibleFields } from '../../../components/forms/CollapsibleFields.tsx';
import { DefaultedNumberInput, Fieldset } from '../../../components/forms/Fieldset.tsx';
import { useLocalization, useMessages } from '../../../messages/use-messages.ts';
import classes from '../Groups.module.css';
import { changesOf, type PartProps, phases, strategyOrder, usualPolicy } from './group-draft.ts';

/** Which provider is called first, how often, and what happens if it fails. */
export function PolicyFields({ draft, change, lock }: PartProps) {
  const { messages, formats } = useLocalization();
  const names = messages.groups.policy;
  const { total, further } = changesOf(draft.policy);
  const [showsMore, setShowsMore] = useState(further > 0);
  const Chevron = showsMore ? IconChevronDown : IconChevronRight;
  const { policy } = draft;
  const set = (changes: Partial<Policy>) => change({ policy: { ...policy, ...changes } });
  const { strategy, retries, fallbacks, rescue } = policy;
  const summary = [
    names.strategies[strategy],
    names.retriesSummary(retries, formats.number(retries)),
    names.fallbacksSummary(fallbacks, formats.number(fallbacks)),
    ...(rescue === 'off' ? [names.rescueOff] : []),
    ...(further > 0 ? [names.further(further, formats.number(further))] : []),
  ].join(' · ');
  return (
    <CollapsibleFields title={names.title} summary={summary} isSet={total > 0} lock={lock}>
      <NativeSelect
        label={names.strategy}
        description={names.strategyHints[policy.strategy]}
        data={strategyOrder.map((value) => ({ value, label: names.strategies[value] }))}
        value={policy.strategy}
        onChange={(event) => {
          const strategy = strategyOrder.find((each) => each === event.currentTarget.value);
          if (strategy) set({ strategy });
        }}
      />
      <SimpleGrid cols={2} spacing="sm" className={classes.level}>
        <CountField name="retries" policy={policy} onChange={set} />
        <CountField name="fallbacks" policy={policy} onChange={set} />
      </SimpleGrid>
      <Switch
        label={names.rescue}
        description={names.rescueHint}
        checked={policy.rescue === 'resume'}
        onChange={(event) => set({ rescue: event.currentTarget.checked ? 'resume' : 'off' })}
      />
      <Button
        variant="subtle"
        size="xs"
        className={classes.start}
        leftSection={<Chevron size={14} />}
        aria-expanded={showsMore}
        onClick={() => setShowsMore(!showsMore)}
      >
        {names.more}
      </Button>
      <Collapse expanded={showsMore} transitionDuration={0}>
        <MoreFields policy={policy} onChange={set} />
      </Collapse>
    </CollapsibleFields>
  );
}

interface PolicyPartProps {
  policy: Policy;
  onChange(changes: Partial<Policy>): void;
}

function CountField({ name, policy, onChange }: PolicyPartProps & { name: 'retries' | 'fallbacks' }) {
  const { policy: names } = useMessages().groups;
  return (
    <DefaultedNumberInput
      label={names[name]}
      description={names[`${name}Hint`]}
      defaultNumber={usualPolicy[name]}
      min={0}
      max={mostAttempts}
      allowDecimal={false}
      clampBehavior="strict"
      value={policy[name]}
      onChange={(value) => onChange({ [name]: value })}
    />
  );
}

/** Rarely needed settings. */
function MoreFields({ policy, onChange }: PolicyPartProps) {
  const { policy: names } = useMessages().groups;
  return (
    <Stack gap="sm">
      <SimpleGrid cols={2} spacing="sm" className={classes.level}>
        <DefaultedNumberInput
          label={names.budget}
          description={names.budgetHint}
          defaultNumber={usualPolicy.budgetMs / secondMs}
          min={0.001}
          max={longestTimeoutMs / secondMs}
          suffix=" s"
          hideControls
          value={policy.budgetMs / secondMs}
          onChange={(seconds) => onChange({ budgetMs: Math.round(seconds * secondMs) })}
        />
        <SecondsField
          label={names.hedge}
          description={names.hedgeHint}
          placeholder={names.never}
          valueMs={policy.hedgeAfterMs || undefined}
          onChange={(hedgeAfterMs) => onChange({ hedgeAfterMs: hedgeAfterMs ?? 0 })}
        />
      </SimpleGrid>
      <Switch
        label={names.refuseLosses}
        description={names.refuseLossesHint}
        checked={policy.losses === 'refuse'}
        onChange={(event) => onChange({ losses: event.currentTarget.checked ? 'refuse' : 'tell' })}
      />
      <Switch
        label={names.retryLostJobs}
        description={names.retryLostJobsHint}
        checked={policy.retryLostJobs}
        onChange={(event) => onChange({ retryLostJobs: event.currentTarget.checked })}
      />
      <Switch
        label={names.drain}
        description={names.drainHint}
        checked={policy.onClientGone === 'drain'}
        onChange={(event) => onChange({ onClientGone: event.currentTarget.checked ? 'drain' : 'stop' })}
      />
      <TimeoutFields policy={policy} onChange={onChange} />
    </Stack>
  );
}

function TimeoutFields({ policy, onChange }: PolicyPartProps) {
  const { groups, providers } = useMessages();
  const { phases: labels, usual } = providers.connection;
  const setPhase = (phase: keyof Policy['timeouts'], valueMs: number | undefined) => {
    const { [phase]: _, ...others } = policy.timeouts;
    onChange({ timeouts: valueMs === undefined ? others : { ...others, [phase]: valueMs } });
  };
  return (
    <Fieldset legend={providers.connection.timeouts} hint={groups.policy.timeoutsHint}>
      <SimpleGrid cols={2} spacing="sm" className={classes.level}>
        {phases.map((phase) => (
          <SecondsField
            key={phase}
            label={labels[phase]}
            placeholder={usual[phase]}
            valueMs={policy.timeouts[phase]}
            onChange={(valueMs) => setPhase(phase, valueMs)}
          />
        ))}
      </SimpleGrid>
    </Fieldset>
  );
}

interface SecondsFieldProps {
  label: string;
  description?: string;
  placeholder?: string;
  /** Undefined if empty, which stands for the default. */
  valueMs: number | undefined;
  onChange(valueMs: number | undefined): void;
}

/** An optional time in seconds. The configuration has milliseconds. */
function SecondsField({ valueMs, onChange, ...field }: SecondsFieldProps) {
  return (
    <NumberInput
      {...field}
      min={0}
      max={longestTimeoutMs / secondMs}
      suffix=" s"
      hideControls
      value={valueMs === undefined ? '' : valueMs / secondMs}
      onChange={(value) => onChange(typeof value === 'number' && value > 0 ? Math.round(value * secondMs) : undefined)}
    />
  );
}
