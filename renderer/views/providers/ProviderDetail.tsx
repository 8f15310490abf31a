import { Button } from '@mantine/core';
import { IconArrowLeft, IconStethoscope, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { ProviderView } from '../../../server/contract/views.ts';
import { CommandProblem } from '../../components/CommandProblem.tsx';
import { EmptyNote } from '../../components/EmptyNote.tsx';
import { ListSkeleton } from '../../components/ListSkeleton.tsx';
import { Screen } from '../../components/Screen.tsx';
import { Section } from '../../components/Section.tsx';
import { StateSwitch } from '../../components/StateSwitch.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useCanChange } from '../../state/use-can-change.ts';
import { useCommand } from '../../state/use-command.ts';
import { useControlState } from '../../state/use-control.ts';
import { ConnectionForm } from './ConnectionForm.tsx';
import { CredentialsSection } from './CredentialsSection.tsx';
import { ModelNames } from './ModelNames.tsx';
import { ProbeResult } from './ProbeResult.tsx';
import { ProviderFacts } from './ProviderFacts.tsx';
import classes from './Providers.module.css';
import { RemoveProvider } from './RemoveProvider.tsx';
import { useProbe } from './use-probe.ts';

/** All that is set of one provider, and how it does. */
export function ProviderDetail({ id }: { id: string }) {
  const { providers: names } = useMessages();
  const providers = useControlState((state) => state.views?.providers ?? null);
  const provider = providers?.find((each) => each.id === id && !each.isDemo);
  const back = (
    <Button
      component={Link}
      href="/providers"
      size="xs"
      variant="default"
      leftSection={<IconArrowLeft size={14} />}
      aria-label={names.backToAll}
    >
      {names.back}
    </Button>
  );
  return (
    <Screen name="providers" action={back}>
      {!providers && <ListSkeleton rows={3} rowHeight={120} />}
      {providers && !provider && <EmptyNote title={names.goneTitle(id)} next={names.goneNext} />}
      {provider && (
        <div className={classes.detail}>
          <StateSection provider={provider} />
          <CredentialsSection provider={provider} />
          <ModelNames provider={provider} />
          <ConnectionForm provider={provider} />
        </div>
      )}
    </Screen>
  );
}

function StateSection({ provider }: { provider: ProviderView }) {
  const { providers: names } = useMessages();
  const command = useCommand();
  const probe = useProbe(provider.id);
  const canChange = useCanChange();
  const [, goTo] = useLocation();
  const [isRemoving, setRemoving] = useState(false);
  const { id, name } = provider;
  const power = (
    <StateSwitch
      label={names.switch(name)}
      isOn={provider.enabled}
      isBusy={command.isRunning}
      onChange={(enabled) => void command.run({ type: 'provider.set-enabled', id, enabled })}
    />
  );
  return (
    <Section title={name} action={power}>
      <div className={classes.body}>
        <p className={`${classes.mono} ${classes.soft}`}>{provider.baseUrl}</p>
        <ProviderFacts provider={provider} />
        {command.problem && <CommandProblem problem={command.problem} />}
        {probe.isShown && <ProbeResult probe={probe.result} onStop={probe.dismiss} />}
        <div className={classes.cardActs}>
          <Button size="xs" variant="default" leftSection={<IconStethoscope size={14} />} onClick={probe.run}>
            {names.test.run}
          </Button>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconTrash size={14} />}
            disabled={!canChange}
            onClick={() => setRemoving(true)}
          >
            {names.remove.open}
          </Button>
        </div>
      </div>
      <RemoveProvider
        provider={isRemoving ? provider : null}
        onClose={() => setRemoving(false)}
        onRemoved={() => goTo('/providers')}
      />
    </Section>
  );
}
