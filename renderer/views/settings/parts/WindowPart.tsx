import { NativeSelect, useMantineColorScheme } from '@mantine/core';
import { Section } from '../../../components/layout/Section.tsx';
import { languages } from '../../../messages/languages.ts';
import type { LanguageId } from '../../../messages/preferred-language.ts';
import { useLocalization } from '../../../messages/use-messages.ts';
import { settingRow } from '../fields/setting-row.tsx';
import classes from '../Settings.module.css';
import { useFoundSettings } from '../search/settings-sections.ts';

const schemes = ['auto', 'light', 'dark'] as const;

/** Appearance and language of the window; applied at once, and to this browser only. */
export function WindowPart() {
  const { messages, language, setLanguage } = useLocalization();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const found = useFoundSettings();
  return (
    <Section title={messages.settings.parts.window}>
      <div className={classes.form}>
        <div className={classes.fields}>
          {found.hasRow('window', 'language') && (
            <NativeSelect
              {...settingRow(messages.language)}
              value={language}
              onChange={(event) => setLanguage(languageOf(event.currentTarget.value))}
              data={languages.map(({ id, name }) => ({ value: id, label: name }))}
            />
          )}
          {found.hasRow('window', 'appearance') && (
            <NativeSelect
              {...settingRow(messages.appearance)}
              value={colorScheme}
              onChange={(event) =>
                setColorScheme(schemes.find((scheme) => scheme === event.currentTarget.value) ?? 'auto')
              }
              data={schemes.map((scheme) => ({ value: scheme, label: messages.schemes[scheme] }))}
            />
          )}
        </div>
      </div>
    </Section>
  );
}

function languageOf(value: string): LanguageId {
  return languages.find(({ id }) => id === value)?.id ?? 'en';
}
