import { Fieldset, SimpleGrid, TextInput } from '@mantine/core';
import { useId } from 'react';
import type { ModelView } from '../../../server/contract/views.ts';
import { useMessages } from '../../messages/use-messages.ts';
import type { DraftProps } from './GroupForm.tsx';
import classes from './Groups.module.css';
import { capabilityOrder } from './group-draft.ts';

/** Which model is meant where a request names none, by what it asks for. */
export function DefaultModels({ draft, models, change }: DraftProps & { models: readonly ModelView[] }) {
  const { groups: names } = useMessages();
  const listId = useId();
  return (
    <Fieldset legend={names.defaults} className={classes.fieldset}>
      <p className={classes.soft}>{names.defaultsHint}</p>
      <SimpleGrid cols={2} spacing="sm" verticalSpacing="xs">
        {capabilityOrder.map((capability) => (
          <TextInput
            key={capability}
            label={names.capabilities[capability]}
            size="xs"
            list={listId}
            autoComplete="off"
            value={draft.defaults[capability] ?? ''}
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
    </Fieldset>
  );
}

type Defaults = DraftProps['draft']['defaults'];

/** An empty one is none. */
function withDefault(defaults: Defaults, capability: keyof Defaults, model: string): Defaults {
  const { [capability]: _, ...others } = defaults;
  return model === '' ? others : { ...defaults, [capability]: model };
}
