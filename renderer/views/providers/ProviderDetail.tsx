import { Button } from '@mantine/core';
import { IconStethoscope } from '@tabler/icons-react';
import { useState } from 'react';
import type { ProviderView } from '../../../server/contract/provider-views.ts';
import { CommandProblem } from '../../components/CommandProblem.tsx';
import { DetailScreen } from '../../components/DetailScreen.tsx';
import { LockMark } from '../../components/LockMark.tsx';
import { Section } from '../../components/Section.tsx';
import { StateSwitch } from '../../components/StateSwitch.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useHashLocation } from '../../state/hash-location.ts';
import { useCommand } from '../../state/use-command.ts';
import { useControlState } from '../../state/use-control.ts';
import { useLocks } from '../../state/use-locks.ts';
import { ActivityBar } from './ActivityBar.tsx';
import { ConnectionForm } from './ConnectionForm.tsx';
import { CredentialsSection } from './CredentialsSection.tsx';
import { ModelNames } from './ModelNames.tsx';
import { ProbeResult } from './ProbeResult.tsx';
import { ProviderFacts } from './ProviderFacts.tsx';
import classes from './Providers.module.css';
import { RemoveProvider } from './RemoveProvider.tsx';
import { ResetHealth } from './ResetHealth.tsx';
import { useProbe } from './use-probe.ts';
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
  const probe = useProbe(provider.id);
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
    <Section title={name} action={power}>
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
