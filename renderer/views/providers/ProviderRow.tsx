import type { ProviderView } from '../../../server/contract/views.ts';
import { CommandProblem } from '../../components/CommandProblem.tsx';
import classes from '../../components/List.module.css';
import { StateSwitch } from '../../components/StateSwitch.tsx';
import type { Messages } from '../../messages/en.ts';
import type { Formats } from '../../messages/formats.ts';
import { useLocalization } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/use-command.ts';
import { type ProviderRowData, switchCommand } from './provider-row.ts';

export function ProviderRow({ row }: { row: ProviderRowData }) {
  const { messages, formats } = useLocalization();
  const names = messages.providers;
  const command = useCommand();
  const { provider } = row;
  const name = row.isDemo ? names.demoName : (provider?.name ?? row.id);
  const problem = problemOf(row, names);
  return (
    <li className={classes.row}>
      <StateSwitch
        label={names.switch(name)}
        isOn={row.isOn}
        isBusy={command.isRunning}
        onChange={(isOn) => void command.run(switchCommand(row, isOn))}
      />
      <div className={row.isOn ? undefined : classes.off}>
        <div className={classes.head}>
          <span className={classes.name} title={name}>
            {name}
          </span>
          {row.isDemo && <span className={classes.tag}>{names.demo}</span>}
        </div>
        <div className={classes.detail} title={provider?.baseUrl}>
          {provider && !row.isDemo ? <span className={classes.mono}>{provider.baseUrl}</span> : names.demoDetail}
        </div>
      </div>
      <span className={classes.models}>{provider && describeModels(provider, names, formats)}</span>
      {problem !== null && <div className={`${classes.wide} ${classes.warning}`}>{problem}</div>}
      {command.problem && (
        <div className={classes.wide}>
          <CommandProblem problem={command.problem} />
        </div>
      )}
    </li>
  );
}

/** What stops a provider that is switched on. */
function problemOf({ provider, isOn }: ProviderRowData, names: Messages['providers']): string | null {
  if (!isOn) return null;
  if (!provider) return names.demoNotRunning;
  return provider.unusable ?? provider.discovery?.problem ?? null;
}

function describeModels(provider: ProviderView, names: Messages['providers'], formats: Formats): string {
  const { length } = provider.modelNames;
  if (length > 0) return names.modelCount(length, formats.number(length));
  return provider.takesAnyModel ? names.anyModel : names.noModels;
}
