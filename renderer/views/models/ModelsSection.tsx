import { Button, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import type { ModelView } from '../../../server/contract/access-views.ts';
import { CommandProblem } from '../../components/CommandProblem.tsx';
import { CopyButton } from '../../components/CopyButton.tsx';
import { EmptyNote } from '../../components/EmptyNote.tsx';
import { ListSkeleton } from '../../components/ListSkeleton.tsx';
import { Section } from '../../components/Section.tsx';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/use-control.ts';
import { useQuery } from '../../state/use-query.ts';
import { type Asker, askedAs } from './asker.ts';
import classes from './Models.module.css';

/** No more are drawn until asked for. */
const shortListLength = 60;

interface ModelsSectionProps {
  asker: Asker | null;
  onExplain(model: string): void;
}

/** Every name that the chosen one lists, and who serves it. */
export function ModelsSection({ asker, onExplain }: ModelsSectionProps) {
  const { messages, formats } = useLocalization();
  const names = messages.models;
  const views = useControlState((state) => state.views);
  const { answer, problem } = useQuery<'models'>(asker && { type: 'models', ...askedAs(asker) }, ageOf(views));
  const [search, setSearch] = useState('');
  const [showsAll, setShowsAll] = useState(false);
  const found = answer?.filter(({ id }) => id.toLowerCase().includes(search.trim().toLowerCase())) ?? [];
  const shown = showsAll ? found : found.slice(0, shortListLength);
  return (
    <Section title={names.title} count={answer ? formats.number(answer.length) : undefined}>
      <div className={classes.body}>
        {problem && <CommandProblem problem={problem} />}
        {!answer && !problem && asker && <ListSkeleton rows={4} rowHeight={28} />}
        {answer?.length === 0 && <EmptyNote title={names.emptyTitle} next={names.emptyNext} />}
        {answer && answer.length > 0 && (
          <TextInput
            aria-label={names.search}
            placeholder={names.search}
            leftSection={<IconSearch size={16} />}
            value={search}
            onChange={(event) => setSearch(event.currentTarget.value)}
          />
        )}
        <ul className={classes.models}>
          {shown.map((model) => (
            <ModelRow key={model.id} model={model} onExplain={() => onExplain(model.id)} />
          ))}
        </ul>
        {answer && answer.length > 0 && found.length === 0 && <p className={classes.soft}>{names.noneFound}</p>}
        {shown.length < found.length && (
          <Button size="xs" variant="default" className={classes.start} onClick={() => setShowsAll(true)}>
            {names.showAll(formats.number(found.length))}
          </Button>
        )}
      </div>
    </Section>
  );
}

/** What the list of models hangs on: the configuration, and what each provider is known to serve. */
function ageOf(views: { status: { revision: number }; providers: readonly { modelNames: string[] }[] } | null): string {
  const counts = views?.providers.map(({ modelNames }) => modelNames.length) ?? [];
  return [views?.status.revision ?? 0, ...counts].join(' ');
}

function ModelRow({ model, onExplain }: { model: ModelView; onExplain(): void }) {
  const { models: names } = useMessages();
  return (
    <li className={classes.model}>
      <button
        type="button"
        className={classes.modelName}
        onClick={onExplain}
        title={names.explain}
        aria-label={names.explainNamed(model.id)}
      >
        {model.id}
      </button>
      <span className={classes.servers}>{model.providers.join(', ')}</span>
      <CopyButton value={model.id} what={model.id} />
    </li>
  );
}
