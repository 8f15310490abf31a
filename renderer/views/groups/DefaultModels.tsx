import { Button, Collapse, SimpleGrid, TextInput } from '@mantine/core';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { useId, useState } from 'react';
import type { ModelView, RefusedDefault } from '../../../server/contract/access-views.ts';
import { capabilities } from '../../../server/contract/capability.ts';
import { FieldPart } from '../../components/FieldPart.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import classes from './Groups.module.css';
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
  // What would be refused is seen, also where another field has made it so.
  const [isOpen, setOpen] = useState(false);
  const isShown = isOpen || refused.length > 0;
  const Chevron = isShown ? IconChevronDown : IconChevronRight;
  const set = capabilities.filter((capability) => draft.defaults[capability]);
  return (
    <FieldPart legend={names.defaults} hint={names.defaultsHint}>
      {set.length > 0 && !isShown && (
        <p className={classes.set}>
          {set.map((capability) => `${names.capabilities[capability]}: ${draft.defaults[capability]}`).join(' · ')}
        </p>
      )}
      <Button
        variant="subtle"
        size="xs"
        className={classes.start}
        leftSection={<Chevron size={14} />}
        aria-expanded={isShown}
        onClick={() => setOpen(!isShown)}
      >
        {names.defaultsOpen}
      </Button>
      <Collapse expanded={isShown} transitionDuration={0}>
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
      </Collapse>
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
