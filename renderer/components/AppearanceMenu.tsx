import { type MantineColorScheme, useMantineColorScheme } from '@mantine/core';
import { IconSunMoon } from '@tabler/icons-react';
import { useMessages } from '../messages/use-messages.ts';
import { ChoiceMenu } from './ChoiceMenu.tsx';

const schemes: readonly MantineColorScheme[] = ['auto', 'light', 'dark'];

/** Light or dark, or as the system has it. */
export function AppearanceMenu() {
  const { appearance, schemes: names } = useMessages();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <ChoiceMenu
      label={appearance}
      icon={<IconSunMoon size={18} />}
      choices={schemes.map((scheme) => ({ value: scheme, label: names[scheme] }))}
      value={colorScheme}
      onChange={setColorScheme}
    />
  );
}
