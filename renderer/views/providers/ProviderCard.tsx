import { Button } from '@mantine/core';
import { IconKey, IconSettings, IconStethoscope } from '@tabler/icons-react';
import { Link } from 'wouter';
import type { ProviderView } from '../../../server/contract/provider-views.ts';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { StateSwitch } from '../../components/forms/StateSwitch.tsx';
import { LockMark } from '../../components/locks/Lockable.tsx';
import { useLocalization } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { type ProviderRowData, switchCommand } from '../../state/providers/providers.ts';
import { useLocks } from '../../state/rights/use-rights.ts';
import { ProviderMark } from './adding/ProviderMark.tsx';
import { ActivityBar, ProviderFacts, ResetHealth } from './ProviderFacts.tsx';
import classes from './Providers.module.css';
import { ProbeResult, useProbe } from './probe/ProbeResult.tsx';
import { hasRefusedCredential, type ProviderActivity } from './provider-state.ts';
import { LeaveButton } from './removal/RemoveProvider.tsx';

interface ProviderCardProps {
  row: ProviderRowData;
  /** In the last 24 hours; null if there was none, undefined while unknown. */
  activity: ProviderActivity | null | undefined;
}

/** A provider: its switch and health, and buttons to test and change it. */
export function ProviderCard({ row, activity }: ProviderCardProps) {
  const { providers: names, joining } = useLocalization().messages;
  const command = useCommand();
  const { provider, isDemo } = row;
  const locks = useLocks();
  const switchLock = isDemo ? locks.setting('demo') : locks.changing('providers', row.id, 'enabled');
  const name = isDemo ? names.demoName : (provider?.name ?? row.id);
  return (
    <li className={classes.card}>
      <div className={classes.cardHead}>
        <StateSwitch
          label={names.switch(name)}
          isOn={row.isOn}
          isBusy={command.isRunning}
          isLocked={switchLock !== null}
          onChange={(isOn) => void command.run(switchCommand(row, isOn))}
        />
        <div className={classes.cardTitle}>
          <h2 className={classes.cardName}>
            <ProviderMark preset={provider?.preset ?? null} />
            {isDemo ? name : <Link href={`/providers/${row.id}`}>{name}</Link>}
            {isDemo && <span className={classes.tag}>{names.demo}</span>}
            {provider?.joined && <span className={classes.tag}>{joining.tag}</span>}
            <LockMark lock={switchLock ?? locks.removing('providers', row.id)} />
          </h2>
          <p className={classes.cardDetail} title={isDemo ? undefined : provider?.baseUrl}>
            {provider && !isDemo ? <span className={classes.mono}>{provider.baseUrl}</span> : names.demoDetail}
          </p>
        </div>
      </div>
      {provider ? (
        <ProviderFacts provider={provider} />
      ) : (
        row.isOn && <p className={classes.warning}>{names.demoNotRunning}</p>
      )}
      {provider && <ActivityBar id={row.id} name={name} activity={activity} />}
      {command.problem && <CommandProblem problem={command.problem} />}
      {provider && <CardActs provider={provider} name={name} isDemo={isDemo} />}
    </li>
  );
}

function CardActs({ provider, name, isDemo }: { provider: ProviderView; name: string; isDemo: boolean }) {
  const { providers: names, close } = useLocalization().messages;
  const { id } = provider;
  const probe = useProbe(id);
  return (
    <>
      <ProbeResult provider={provider} probe={probe} />
      <div className={classes.cardActs}>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconStethoscope size={14} />}
          aria-label={names.test.runNamed(name)}
          onClick={() => probe.run()}
        >
          {names.test.run}
        </Button>
        {hasRefusedCredential(provider) && (
          <Button
            component={Link}
            href={`/providers/${id}`}
            size="xs"
            leftSection={<IconKey size={14} />}
            aria-label={names.credential.replaceAt(name)}
          >
            {names.credential.replace}
          </Button>
        )}
        <ResetHealth provider={provider} />
        {!isDemo && (
          <Button
            component={Link}
            href={`/providers/${id}`}
            size="xs"
            variant="default"
            leftSection={<IconSettings size={14} />}
            aria-label={names.openNamed(name)}
          >
            {names.open}
          </Button>
        )}
        {provider.joined && <LeaveButton provider={provider} />}
        {probe.lastReport?.report.ok && !probe.isRunning && (
          <Button size="xs" variant="subtle" color="gray" onClick={probe.dismiss}>
            {close}
          </Button>
        )}
      </div>
    </>
  );
}
