import { Button } from '@mantine/core';
import { IconStethoscope } from '@tabler/icons-react';
import { useState } from 'react';
import { useSearch } from 'wouter';
import type { ProviderView } from '../../../server/contract/provider-views.ts';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { StateSwitch } from '../../components/forms/StateSwitch.tsx';
import { DetailScreen } from '../../components/layout/Screen.tsx';
import { Section } from '../../components/layout/Section.tsx';
import { LockMark } from '../../components/locks/Lockable.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { useLocks } from '../../state/rights/use-rights.ts';
import { useHashLocation } from '../../state/window/hash-location.ts';
import { ActivityBar } from './ActivityBar.tsx';
import { ConnectionForm } from './connection/ConnectionForm.tsx';
import { CredentialsSection } from './connection/CredentialsSection.tsx';
import { ModelNames } from './ModelNames.tsx';
import { ProviderFacts } from './ProviderFacts.tsx';
import classes from './Providers.module.css';
import { ProbeResult } from './probe/ProbeResult.tsx';
import { useProbe } from './probe/use-probe.ts';
import { ResetHealth } from './ResetHealth.tsx';
import { RemoveProvider } from './removal/RemoveProvider.tsx';
import { activityIn, useProviderActivity } from './use-provider-activity.ts';

/** All settings of one provider, its health, and its removal. */
export function ProviderDetail({ id }: { id: string }) {
  const providers = useControlState((state) => state.views?.providers ?? null);
  const configured = providers?.find((provider) => !provider.isDemo && provider.id === id) ?? null;
  const lock = useLocks().removing('providers', id);
  const [, goTo] = useHashLocation();
  const [isRemoving, setRemoving] = useState(false);
  return (
    <DetailScreen
      name="providers"
      id={id}
      item={configured}
      title={configured?.name ?? null}
      isKnown={providers !== null}
      lock={lock}
      onRemove={() => setRemoving(true)}
    >
      {(provider) => (
        <div className={classes.detail}>
          <StateSection provider={provider} />
          <CredentialsSection provider={provider} />
          <ModelNames provider={provider} />
          <ConnectionForm provider={provider} />
          <RemoveProvider
            provider={isRemoving ? provider : null}
            onClose={() => setRemoving(false)}
            onRemoved={() => goTo('/providers', { discardEdits: true })}
          />
        </div>
      )}
    </DetailScreen>
  );
}

function StateSection({ provider }: { provider: ProviderView }) {
  const { providers: names } = useMessages();
  const command = useCommand();
  const isTestAsked = new URLSearchParams(useSearch()).has('test');
  const probe = useProbe(provider.id, isTestAsked);
  const activity = activityIn(useProviderActivity(), provider.id);
  const locks = useLocks();
  const { id, name } = provider;
  const power = (
    <StateSwitch
      label={names.switch(name)}
      isOn={provider.enabled}
      isBusy={command.isRunning}
      isLocked={locks.changing('providers', id, 'enabled') !== null}
      onChange={(enabled) => void command.run({ type: 'provider.set-enabled', id, enabled })}
    />
  );
  return (
    <Section title={names.stateTitle} action={power}>
      <div className={classes.body}>
        <p className={`${classes.mono} ${classes.soft}`}>{provider.baseUrl}</p>
        <LockMark lock={locks.changing('providers', id, 'enabled')} />
        <ProviderFacts provider={provider} activity={activity} />
        {command.problem && <CommandProblem problem={command.problem} />}
        <ActivityBar id={id} name={name} activity={activity} />
        <ProbeResult provider={provider} probe={probe} isDetailed />
        <div className={classes.cardActs}>
          <Button size="xs" variant="default" leftSection={<IconStethoscope size={14} />} onClick={() => probe.run()}>
            {names.test.run}
          </Button>
          <ResetHealth provider={provider} />
        </div>
      </div>
    </Section>
  );
}
