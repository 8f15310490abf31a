import { SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { CopyButton } from '../../../components/copying/CopyButton.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import classes from '../Keys.module.css';
import { type SnippetLanguage, snippetLanguages, writeSnippet } from './key-snippets.ts';

/** Shows how to configure the base URL and the secret in a program. */
export function KeySnippets({ secret }: { secret: string }) {
  const { keys: names } = useMessages();
  const baseUrl = useControlState((state) => state.views?.status.baseUrl ?? null);
  const [language, setLanguage] = useState<SnippetLanguage>('env');
  if (baseUrl === null) return null;
  const text = writeSnippet[language](baseUrl, secret);
  return (
    <div className={classes.snippets}>
      <SegmentedControl
        size="xs"
        aria-label={names.snippetsFor}
        value={language}
        onChange={setLanguage}
        data={snippetLanguages.map((each) => ({ value: each, label: names.snippets[each] }))}
      />
      <div className={classes.snippet}>
        <pre className={classes.code}>{text}</pre>
        <CopyButton value={text} label={names.snippets[language]} />
      </div>
    </div>
  );
}
