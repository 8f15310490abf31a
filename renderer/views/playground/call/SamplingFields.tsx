import { NativeSelect, NumberInput, SimpleGrid, Textarea } from '@mantine/core';
import { useMessages } from '../../../messages/use-messages.ts';
import { efforts, type SamplingDraft, schemaOf } from '../../../state/chat/sampling.ts';

interface SamplingFieldsProps {
  draft: SamplingDraft;
  onChange(draft: SamplingDraft): void;
  /** Reasoning and schemas are supported in conversations only. */
  isConversation?: boolean;
}

/** Sampling parameters. Empty fields are not sent. */
export function SamplingFields({ draft, onChange, isConversation = true }: SamplingFieldsProps) {
  const { parameter: names } = useMessages().playground;
  const change = (changes: Partial<SamplingDraft>) => onChange({ ...draft, ...changes });
  return (
    <>
      <SimpleGrid cols={2} spacing="sm">
        <NumberInput
          label={names.temperature}
          min={0}
          max={2}
          step={0.1}
          value={draft.temperature}
          onChange={(temperature) => change({ temperature })}
        />
        <NumberInput
          label={names.topP}
          min={0}
          max={1}
          step={0.05}
          value={draft.topP}
          onChange={(topP) => change({ topP })}
        />
        <NumberInput
          label={names.maxTokens}
          min={1}
          allowDecimal={false}
          value={draft.maxTokens}
          onChange={(maxTokens) => change({ maxTokens })}
        />
        {isConversation && (
          <NativeSelect
            label={names.effort}
            value={draft.effort}
            onChange={(event) => change({ effort: event.currentTarget.value })}
            data={[{ value: '', label: names.ownEffort }, ...efforts]}
          />
        )}
      </SimpleGrid>
      {isConversation && (
        <Textarea
          label={names.schema}
          description={names.schemaHint}
          value={draft.schema}
          onChange={(event) => change({ schema: event.currentTarget.value })}
          error={schemaOf(draft) === null && names.schemaWrong}
          spellCheck={false}
          autosize
          minRows={1}
          maxRows={10}
        />
      )}
    </>
  );
}
