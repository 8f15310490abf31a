import { SimpleGrid, TextInput } from '@mantine/core';
import { useId } from 'react';
import type { ModelView, RefusedDefault } from '../../../server/contract/access-views.ts';
import { capabilities } from '../../../server/contract/capability.ts';
import { FieldPart } from '../../components/FieldPart.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import type { DraftProps } from './group-draft.ts';

interface DefaultModelsProps extends DraftProps {
  models: readonly ModelView[];
  /** Of the draft. */
  refused: readonly RefusedDefault[];
}

/** Which model is meant where a request names none, by what it asks for. */
export function DefaultModels({ draft, models, refused, change }: DefaultModelsProps) {
  const { groups: names } = useMessages();
  const listId = useId();
  const whyRefused = (each: RefusedDefault | undefined) =>
    each && (each.code === 'model_not_found' ? names.defaultOutside : names.defaultUnserved);
  return (
    <FieldPart legend={names.defaults} hint={names.defaultsHint}>
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
    </FieldPart>
  );
}

type Defaults = DraftProps['draft']['defaults'];

/** An empty one is none. */
function withDefault(defaults: Defaults, capability: keyof Defaults, model: string): Defaults {
  const { [capability]: _, ...others } = defaults;
  return model === '' ? others : { ...defaults, [capability]: model };
}
