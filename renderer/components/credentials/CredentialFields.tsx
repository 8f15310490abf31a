import { Anchor, PasswordInput, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { useMessages } from '../../messages/use-messages.ts';

type CredentialSource = 'secret' | 'env' | 'file';

/** A credential as typed; exists only as long as its form. */
export interface CredentialDraft {
  source: CredentialSource;
  value: string;
}

export const emptyDraft: CredentialDraft = { source: 'secret', value: '' };
const examples = { secret: 'sk-…', env: 'OPENAI_API_KEY', file: '/run/secrets/openai' };
const sources: readonly CredentialSource[] = ['secret', 'env', 'file'];

interface CredentialFieldsProps {
  draft: CredentialDraft;
  onChange(draft: CredentialDraft): void;
  /** The page where a person can get one. */
  keyPage?: string | null;
  isOptional?: boolean;
  /** The person tried to continue without it. */
  isMissing?: boolean;
  /** Focused when its dialog opens. */
  isFirst?: boolean;
}

/** Fields for a credential, either its value or a reference to it. */
export function CredentialFields({ draft, onChange, keyPage = null, ...rest }: CredentialFieldsProps) {
  const { credential: names } = useMessages().providers;
  const { isOptional = false, isMissing = false, isFirst = false } = rest;
  const common = {
    value: draft.value,
    onChange: (event: { currentTarget: { value: string } }) => onChange({ ...draft, value: event.currentTarget.value }),
    label: isOptional ? names.optional(names.labels[draft.source]) : names.labels[draft.source],
    description: names.hints[draft.source],
    placeholder: examples[draft.source],
    error: isMissing && names.missingValues[draft.source],
    autoComplete: 'off',
    spellCheck: false,
    ...(isFirst && { 'data-autofocus': true }),
  };
  return (
    <Stack gap="xs">
      {draft.source === 'secret' ? (
        <PasswordInput {...common} autoComplete="new-password" />
      ) : (
        <TextInput {...common} />
      )}
      {keyPage && (
        <Text size="sm">
          {names.keyPage}{' '}
          <Anchor href={keyPage} target="_blank" rel="noreferrer" size="sm">
            {keyPage.replace(/^https:\/\//, '')}
          </Anchor>
        </Text>
      )}
      <SegmentedControl
        size="xs"
        aria-label={names.source}
        value={draft.source}
        onChange={(source) => onChange({ source, value: '' })}
        data={sources.map((source) => ({ value: source, label: names.sources[source] }))}
      />
    </Stack>
  );
}

/** In the form that a command expects; null while nothing was typed. */
export function draftedCredential({
  source,
  value,
}: CredentialDraft): { secret: string } | { reference: string } | null {
  const text = value.trim();
  if (!text) return null;
  return source === 'secret' ? { secret: text } : { reference: `${source}:${text}` };
}
