import { Autocomplete } from '@mantine/core';
import { useMessages } from '../messages/use-messages.ts';
import type { ModelChoice } from '../state/use-model-choice.ts';

const mostShown = 100;

/** Which model is asked: one of those that the key lists, or any other name. */
export function ModelField({ choice }: { choice: ModelChoice }) {
  const { keyChooser: names } = useMessages();
  return (
    <Autocomplete
      label={names.model}
      data={[...new Set(choice.names)]}
      value={choice.model}
      onChange={choice.choose}
      limit={mostShown}
      maxDropdownHeight={300}
      autoComplete="off"
      spellCheck={false}
    />
  );
}
