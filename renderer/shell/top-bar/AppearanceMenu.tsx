import { type MantineColorScheme, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { IconMoon, IconSun } from '@tabler/icons-react';
import { useMessages } from '../../messages/use-messages.ts';
import { ChoiceMenu } from './ChoiceMenu.tsx';

const schemes: readonly MantineColorScheme[] = ['auto', 'light', 'dark'];

/** Light, dark, or the system's colour scheme. */
export function AppearanceMenu() {
  const { appearance, schemes: names } = useMessages();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const Icon = useComputedColorScheme() === 'dark' ? IconMoon : IconSun;
  return (
    <ChoiceMenu
      label={appearance}
      icon={<Icon size={18} />}
      choices={schemes.map((scheme) => ({ value: scheme, label: names[scheme] }))}
      value={colorScheme}
      onChange={setColorScheme}
    />
  );
}
