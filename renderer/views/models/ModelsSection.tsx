import { ActionIcon, Button, TextInput } from '@mantine/core';
import { IconPlayerPlay, IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'wouter';
import type { ModelView } from '../../../server/contract/access-views.ts';
import { purposeOf } from '../../../server/contract/model-identity.ts';
import { CopyButton } from '../../components/copying/CopyButton.tsx';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { EmptyNote } from '../../components/feedback/EmptyNote.tsx';
import { ListSkeleton } from '../../components/feedback/ListSkeleton.tsx';
import { Section } from '../../components/layout/Section.tsx';
import { describeModel } from '../../components/selects/describe-model.ts';
import { useLocalization } from '../../messages/use-messages.ts';
import type { QueryState } from '../../state/control/use-query.ts';
import { useProviderName } from '../../state/providers/providers.ts';
import classes from './Models.module.css';
import { ModelNameButton } from './route/ModelNameButton.tsx';

/** More are rendered only on request. */
const shortListLength = 60;

interface ModelsSectionProps {
  models: QueryState<'models'>;
  /** The key or group is known. */
  isAsked: boolean;
  onExplain(model: string): void;
}

/** The names that the chosen key or group lists, and the providers that serve them. */
export function ModelsSection({ models: { answer, problem }, isAsked, onExplain }: ModelsSectionProps) {
  const { messages, formats } = useLocalization();
  const names = messages.models;
  const [search, setSearch] = useState('');
  const [showsAll, setShowsAll] = useState(false);
  const found = answer?.filter(({ id }) => id.toLowerCase().includes(search.trim().toLowerCase())) ?? [];
  const shown = showsAll ? found : found.slice(0, shortListLength);
  return (
    <Section title={names.title} count={answer ? formats.number(answer.length) : undefined}>
      <div className={classes.body}>
        {problem && <CommandProblem problem={problem} />}
        {!answer && !problem && isAsked && <ListSkeleton rows={4} rowHeight={28} />}
        {answer?.length === 0 && <EmptyNote title={names.emptyTitle} next={names.emptyNext} />}
        {answer && answer.length > 0 && (
          <TextInput
            type="search"
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

function ModelRow({ model, onExplain }: { model: ModelView; onExplain(): void }) {
  const localization = useLocalization();
  const { models: names } = localization.messages;
  const providerName = useProviderName();
  const purpose = purposeOf(model.id);
  const facts = [model.providers.map(providerName).join(', '), describeModel(model, localization)];
  return (
    <li className={classes.model}>
      <span
        className={classes.health}
        data-state={model.health}
        role="img"
        aria-label={names.health[model.health]}
        title={names.health[model.health]}
      />
      <div className={classes.modelText}>
        <ModelNameButton name={model.id} onExplain={onExplain} />
        <span className={classes.modelFacts}>{facts.filter(Boolean).join(' · ')}</span>
      </div>
      {purpose && (
        <ActionIcon
          component={Link}
          href={`/playground/${purpose}?model=${encodeURIComponent(model.id)}`}
          variant="subtle"
          color="gray"
          aria-label={names.tryNamed(model.id)}
          title={names.tryNamed(model.id)}
        >
          <IconPlayerPlay size={16} aria-hidden />
        </ActionIcon>
      )}
      <CopyButton value={model.id} label={model.id} />
    </li>
  );
}
