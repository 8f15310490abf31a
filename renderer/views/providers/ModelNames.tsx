import { Button, TextInput } from '@mantine/core';
import { IconRefresh, IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import type { ProviderView } from '../../../server/contract/provider-views.ts';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { Section } from '../../components/layout/Section.tsx';
import { RelativeTime } from '../../components/text/RelativeTime.tsx';
import { useLocalization } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { unlistedReason } from '../../state/providers/providers.ts';
import classes from './Providers.module.css';

/** From this number of models on, there is a search box. */
const manyModels = 12;
/** More are rendered only on request. */
const shortListLength = 60;

/** The models that a provider serves and the age of the list, with a button to refresh it. */
export function ModelNames({ provider }: { provider: ProviderView }) {
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
