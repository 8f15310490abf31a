import { IconLanguage } from '@tabler/icons-react';
import { languages } from '../../messages/languages.ts';
import { useLocalization } from '../../messages/use-messages.ts';
import { ChoiceMenu } from './ChoiceMenu.tsx';

const choices = languages.map(({ id, name }) => ({ value: id, label: name }));

export function LanguageMenu() {
  const { language, setLanguage, messages } = useLocalization();
  return (
    <ChoiceMenu
      label={messages.language}
      icon={<IconLanguage size={18} />}
      choices={choices}
      value={language}
      onChange={setLanguage}
    />
  );
}
