import { Button, TextInput } from '@mantine/core';
import { IconRefresh, IconSearch, IconStethoscope } from '@tabler/icons-react';
import { useState } from 'react';
import { useSearch } from 'wouter';
import type { ProviderView } from '../../../server/contract/provider-views.ts';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { StateSwitch } from '../../components/forms/StateSwitch.tsx';
import { DetailScreen } from '../../components/layout/Screen.tsx';
import { Section } from '../../components/layout/Section.tsx';
import { LockMark } from '../../components/locks/Lockable.tsx';
import { RelativeTime } from '../../components/text/RelativeTime.tsx';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { unlistedReason } from '../../state/providers/providers.ts';
import { useLocks } from '../../state/rights/use-rights.ts';
import { useHashLocation } from '../../state/window/hash-location.ts';
import { ConnectionForm } from './connection/ConnectionForm.tsx';
import { CredentialsSection } from './connection/CredentialsSection.tsx';
import { ActivityBar, ProviderFacts, ResetHealth } from './ProviderFacts.tsx';
import classes from './Providers.module.css';
import { ProbeResult, useProbe } from './probe/ProbeResult.tsx';
import { activityIn, useProviderActivity } from './provider-state.ts';
import { RemoveProvider } from './removal/RemoveProvider.tsx';

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
        <ProviderFacts provider={provider} />
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

/** From this number of models on, there is a search box. */
const manyModels = 12;
/** More are rendered only on request. */
const shortListLength = 60;

/** The models that a provider serves and the age of the list, with a button to refresh it. */
function ModelNames({ provider }: { provider: ProviderView }) {
  const { messages, formats } = useLocalization();
  const names = messages.providers.models;
  const [search, setSearch] = useState('');
  const [showsAll, setShowsAll] = useState(false);
  const command = useCommand();
  const { modelNames, discovery } = provider;
  const found = modelNames.filter((name) => name.toLowerCase().includes(search.trim().toLowerCase()));
  const shown = showsAll ? found : found.slice(0, shortListLength);
  const refresh = discovery && (
    <Button
      size="xs"
      variant="default"
      leftSection={<IconRefresh size={14} />}
      loading={command.isRunning}
      onClick={() => void command.run({ type: 'provider.refresh-models', id: provider.id })}
    >
      {names.refresh}
    </Button>
  );
  return (
    <Section title={names.title} count={formats.number(modelNames.length)} action={refresh}>
      <div className={classes.body}>
        <p className={classes.soft}>
          {discovery ? (
            discovery.refreshedAt === null ? (
              names.neverAsked
            ) : (
              <RelativeTime moment={discovery.refreshedAt} phrase={messages.providers.asked} />
            )
          ) : (
            names.configured
          )}
          {provider.takesAnyModel && ` · ${names.takesAny}`}
        </p>
        {discovery?.problem && <p className={classes.warning}>{unlistedReason(discovery, messages.probe)}</p>}
        {command.problem && <CommandProblem problem={command.problem} />}
        {modelNames.length >= manyModels && (
          <TextInput
            aria-label={names.search}
            placeholder={names.search}
            leftSection={<IconSearch size={16} />}
            value={search}
            onChange={(event) => setSearch(event.currentTarget.value)}
          />
        )}
        {shown.length > 0 && (
          <ul className={classes.names}>
            {shown.map((name) => (
              <li key={name} className={classes.mono}>
                {name}
              </li>
            ))}
          </ul>
        )}
        {shown.length < found.length && (
          <Button size="xs" variant="default" className={classes.start} onClick={() => setShowsAll(true)}>
            {names.showAll(formats.number(found.length))}
          </Button>
        )}
        {modelNames.length > 0 && shown.length === 0 && <p className={classes.soft}>{names.noneFound}</p>}
      </div>
    </Section>
  );
}
