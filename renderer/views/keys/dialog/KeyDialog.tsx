import { SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import type { KeyView } from '../../../../server/contract/access-views.ts';
import { shellWord } from '../../../../server/contract/shell-words.ts';
import { CopyButton, SecretContent, type ShownSecret } from '../../../components/copying/CopyButton.tsx';
import { ModalFrame } from '../../../components/dialogs/ModalFrame.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import classes from '../Keys.module.css';
import { CreateKeyForm } from './CreateKeyForm.tsx';
import { EditKeyForm } from './EditKeyForm.tsx';
import { RotateKey } from './RotateKey.tsx';

/** The content of the dialog: the form for a new or existing key, rotation, or a secret. */
export type KeyDialogContent =
  | { act: 'create' }
  | { act: 'edit'; view: KeyView }
  | { act: 'rotate'; view: KeyView }
  | { act: 'show'; secret: ShownSecret };

interface KeyDialogProps {
  /** Null while closed. */
  content: KeyDialogContent | null;
  onChange(content: KeyDialogContent | null): void;
}

/**
 * A single dialog for all of them, because a secret follows a form. The element that opened it gets the focus back at
 * the end.
 */
export function KeyDialog({ content, onChange }: KeyDialogProps) {
  const { createKey, keys } = useMessages();
  const close = () => onChange(null);
  const titles = { create: createKey.title, edit: keys.editTitle, rotate: keys.rotateTitle };
  const title = content?.act === 'show' ? content.secret.title : titles[content?.act ?? 'create'];
  // A secret that was kept can be shown again.
  const isShownOnce = content?.act === 'show' && !content.secret.isKept;
  const isForm = content?.act === 'create' || content?.act === 'edit';
  return (
    <ModalFrame
      opened={content !== null}
      onClose={close}
      title={title}
      ignoresClickOutside={isShownOnce}
      width={isForm ? 'wide' : 'usual'}
    >
      {content && (
        <Content content={content} onClose={close} onSecret={(secret) => onChange({ act: 'show', secret })} />
      )}
    </ModalFrame>
  );
}

interface ContentProps {
  content: KeyDialogContent;
  onClose(): void;
  onSecret(secret: ShownSecret): void;
}

function Content({ content, onClose, onSecret }: ContentProps) {
  switch (content.act) {
    case 'create':
      return <CreateKeyForm onCancel={onClose} onCreated={onSecret} />;
    case 'edit':
      return <EditKeyForm key={content.view.id} view={content.view} onClose={onClose} />;
    case 'rotate':
      return <RotateKey view={content.view} onCancel={onClose} onRotated={onSecret} />;
    case 'show':
      return (
        <SecretContent shown={content.secret} onDone={onClose}>
          <KeySnippets secret={content.secret.secret} />
        </SecretContent>
      );
  }
}

/** Shows how to configure the base URL and the secret in a program. */
function KeySnippets({ secret }: { secret: string }) {
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

/** Snippets to paste, one per language. They only list models, so they work whatever the key may use. */
const snippetLanguages = ['env', 'curl', 'python', 'node'] as const;
type SnippetLanguage = (typeof snippetLanguages)[number];

type WriteSnippet = (baseUrl: string, secret: string) => string;

const writeSnippet: Record<SnippetLanguage, WriteSnippet> = {
  env: (baseUrl, secret) => `export OPENAI_BASE_URL=${baseUrl}\nexport OPENAI_API_KEY=${shellWord(secret)}`,
  curl: (baseUrl, secret) => `curl ${baseUrl}/models \\\n  -H ${shellWord(`Authorization: Bearer ${secret}`)}`,
  python: (baseUrl, secret) => `from openai import OpenAI

client = OpenAI(base_url="${baseUrl}", api_key="${secret}")
print([model.id for model in client.models.list()])`,
  node: (baseUrl, secret) => `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${baseUrl}', apiKey: '${secret}' });
for await (const model of client.models.list()) console.log(model.id);`,
};
