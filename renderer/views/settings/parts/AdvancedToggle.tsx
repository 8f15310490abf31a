import { Button } from '@mantine/core';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { useEffect } from 'react';
import { useSearch } from 'wouter';
import { useLocalization } from '../../../messages/use-messages.ts';
import { createSessionValue, useSessionValue } from '../../../state/window/session-value.ts';
import type { SettingsField } from '../fields/settings-field.ts';

interface Level {
  /** Settings that most people never need are shown too, in every section. */
  isAdvanced: boolean;
  setAdvanced(isAdvanced: boolean): void;
}

const showsAdvanced = createSessionValue<boolean>(false);

/** Basic at first; a link may ask for the advanced settings: `/settings?section=serving&level=advanced`. */
export function useLevel(): Level {
  const [isAdvanced, setAdvanced] = useSessionValue(showsAdvanced);
  const isAskedFor = new URLSearchParams(useSearch()).get('level') === 'advanced';
  useEffect(() => {
    if (isAskedFor) setAdvanced(true);
  }, [isAskedFor, setAdvanced]);
  return { isAdvanced, setAdvanced };
}

interface AdvancedToggleProps {
  /** The advanced ones of the section. */
  fields: readonly SettingsField[];
  level: Level;
}

/** Shows or hides the advanced settings. */
export function AdvancedToggle({ fields, level: { isAdvanced, setAdvanced } }: AdvancedToggleProps) {
  const { messages, formats } = useLocalization();
  const Chevron = isAdvanced ? IconChevronDown : IconChevronRight;
  return (
    <div>
      <Button
        size="xs"
        variant="subtle"
        color="gray"
        leftSection={<Chevron size={14} aria-hidden />}
        aria-expanded={isAdvanced}
        onClick={() => setAdvanced(!isAdvanced)}
      >
        {messages.settings.advanced(formats.number(fields.length))}
      </Button>
    </div>
  );
}
