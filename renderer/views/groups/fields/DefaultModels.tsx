import { SimpleGrid, TextInput } from '@mantine/core';
import { useId } from 'react';
import type { ModelView, RefusedDefault } from '../../../../server/contract/access-views.ts';
import { capabilities } from '../../../../server/contract/operations.ts';
import { CollapsibleFields } from '../../../components/forms/CollapsibleFields.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import classes from '../Groups.module.css';
import type { DraftProps, PartProps } from './group-draft.ts';

interface DefaultModelsProps extends PartProps {
  models: readonly ModelView[];
  /** Defaults of the draft that the engine would refuse. */
  refused: readonly RefusedDefault[];
}

/** The default model for requests that name none, by capability. */
export function DefaultModels({ draft, models, refused, change, lock }: DefaultModelsProps) {
  const { groups: names } = useMessages();
  const listId = useId();
  const whyRefused = (each: RefusedDefault | undefined) =>
    each && (each.code === 'model_not_found' ? names.defaultOutside : names.defaultUnserved);
  const set = capabilities.filter((capability) => draft.defaults[capability]);
  const summary = set
    .map((capability) => `${names.capabilities[capability]}: ${draft.defaults[capability]}`)
    .join(' · ');
  return (
    <CollapsibleFields
      title={names.defaults}
      summary={summary || names.none}
      isSet={set.length > 0}
      // Refused defaults must be visible, even if a change to another field caused the refusal.
      isForcedOpen={refused.length > 0}
      lock={lock}
    >
      <p className={classes.soft}>{names.defaultsHint}</p>
      <SimpleGrid cols={2} spacing="sm" verticalSpacing="xs">
        {capabilities.map((capability) => (
          <TextInput
            key={capability}
            label={names.capabilities[capability]}
            size="xs"
            list={listId}
            autoComplete="off"
            value={draft.defaults[capability] ?? ''}
            error={whyRefused(refused.find((each) => each.capability === capability))}
            onChange={(event) =>
              change({ defaults: withDefault(draft.defaults, capability, event.currentTarget.value) })
            }
          />
        ))}
      </SimpleGrid>
      <datalist id={listId}>
        {models.map(({ id }) => (
          <option key={id} value={id} />
        ))}
      </datalist>
    </CollapsibleFields>
  );
}

type Defaults = DraftProps['draft']['defaults'];

/** An empty name removes the default. */
function withDefault(defaults: Defaults, capability: keyof Defaults, model: string): Defaults {
  const { [capability]: _, ...others } = defaults;
  return model === '' ? others : { ...defaults, [capability]: model };
}
