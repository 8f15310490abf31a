import { Link } from 'wouter';
import type { ModelView } from '../../../server/contract/access-views.ts';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { EmptyNote } from '../../components/feedback/EmptyNote.tsx';
import { ListSkeleton } from '../../components/feedback/ListSkeleton.tsx';
import { Section } from '../../components/layout/Section.tsx';
import { useLocalization } from '../../messages/use-messages.ts';
import type { ControlError } from '../../state/api/api.ts';
import { useProviderName } from '../../state/providers/providers.ts';
import classes from './Groups.module.css';
import type { ModelDifference } from './model-difference.ts';

interface ModelPreviewProps {
  groupId: string;
  /** The models that the draft allows; null until known. */
  models: readonly ModelView[] | null;
  difference: ModelDifference;
  problem: ControlError | null;
}

/**
 * The models that the keys of the group can use, each linked to its route preview, and what saving would add and
 * remove.
 */
export function ModelPreview({ groupId, models, difference, problem }: ModelPreviewProps) {
  const { messages, formats } = useLocalization();
  const names = messages.groups;
  const providerName = useProviderName();
  return (
    <div className={classes.preview}>
      <Section title={names.preview} count={models ? formats.number(models.length) : undefined}>
        <div className={classes.body}>
          {problem && <CommandProblem problem={problem} />}
          {!models && !problem && <ListSkeleton rows={4} rowHeight={28} />}
          {models?.length === 0 && <EmptyNote title={names.previewEmpty} next={names.previewEmptyNext} />}
          {difference.lost.length > 0 && (
            <p className={classes.lost}>
              {names.lost(formats.number(difference.lost.length))}
              {formats.gap}
              <span className={classes.mono}>{difference.lost.join(', ')}</span>
            </p>
          )}
          <ul className={classes.models}>
            {models?.map((model) => (
              <li key={model.id} className={classes.model}>
                <span className={classes.mono}>
                  <Link
                    className={classes.modelLink}
                    href={`/models?for=group:${encodeURIComponent(groupId)}&model=${encodeURIComponent(model.id)}`}
                    title={messages.models.route}
                  >
                    {model.id}
                  </Link>
                </span>
                {difference.gained.has(model.id) && <span className={classes.gained}>{names.gained}</span>}
                <span className={classes.servers}>{model.providers.map(providerName).join(', ')}</span>
              </li>
            ))}
          </ul>
        </div>
      </Section>
    </div>
  );
}
