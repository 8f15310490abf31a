import { Button, Checkbox, Group, NativeSelect, SegmentedControl, Stack, Text } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import { useSearch } from 'wouter';
import type { KeyView } from '../../../../server/contract/access-views.ts';
import { shellWord } from '../../../../server/contract/shell-words.ts';
import { limitsOf } from '../../../components/access/limit-draft.ts';
import { IconAction } from '../../../components/buttons/IconAction.tsx';
import { CopyButton, SecretContent, type ShownSecret } from '../../../components/copying/CopyButton.tsx';
import { DialogActions, ModalFrame } from '../../../components/dialogs/ModalFrame.tsx';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { Fieldset } from '../../../components/forms/Fieldset.tsx';
import list from '../../../components/lists/List.module.css';
import { TestingLine } from '../../../components/testing/TestingLine.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { useCommand } from '../../../state/control/use-command.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { isEqual } from '../../../state/edits/edits.ts';
import { useProviderName } from '../../../state/providers/providers.ts';
import { useRights } from '../../../state/rights/use-rights.ts';
import classes from '../Keys.module.css';
import { draftOf, expiryOf, type KeyDraft, KeyFields, KeyName, useGroupChoice } from './KeyFields.tsx';

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

interface CreateKeyFormProps {
  onCancel(): void;
  onCreated(secret: ShownSecret): void;
}

/** Mounted only while its dialog is open, so it starts empty each time. */
function CreateKeyForm({ onCancel, onCreated }: CreateKeyFormProps) {
  const { createKey: names, secret: secretNames } = useMessages();
  const groups = useControlState((state) => state.views?.groups ?? null) ?? [];
  const [shownGroup] = useGroupChoice();
  const usualGroup = groups.find(({ id }) => id === 'default')?.id ?? groups[0]?.id ?? 'default';
  const [draft, setDraft] = useState<KeyDraft>({
    name: '',
    group: shownGroup ?? usualGroup,
    expiry: 'never',
    models: [],
    limits: undefined,
    capture: false,
  });
  const [keepSecret, setKeepSecret] = useState(true);
  const { manages } = useRights();
  const isManager = manages(draft.group);
  const command = useCommand();

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const name = draft.name.trim();
    const limits = limitsOf(draft.limits);
    const expiresAt = draft.expiry === 'kept' ? null : expiryOf(draft.expiry, Date.now());
    const result = await command.run({
      type: 'key.create',
      ...(name && { name }),
      group: draft.group,
      ...(expiresAt !== null && { expiresAt }),
      ...(draft.models.length > 0 && { models: draft.models }),
      ...(limits && { limits }),
      ...(isManager && draft.capture && { capture: true }),
      keepSecret,
    });
    if (!result) return;
    const { key, secret } = result;
    onCreated({ title: secretNames.created, name: key.name ?? key.id, secret, isKept: keepSecret });
  };

  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="sm">
        <KeyName value={draft.name} onChange={(name) => setDraft({ ...draft, name })} isNew />
        <KeyFields draft={draft} onChange={setDraft} isNew />
        <Checkbox
          label={names.keepSecret}
          checked={keepSecret}
          onChange={(event) => setKeepSecret(event.currentTarget.checked)}
        />
        <DialogActions command={command} submit={names.submit} onLeave={onCancel} />
      </Stack>
    </form>
  );
}

interface EditKeyFormProps {
  view: KeyView;
  onClose(): void;
}

/**
 * The form of an existing key, with the settings that the person may change: for its owner, only the name and
 * its own aliases. The secret stays the same.
 */
function EditKeyForm({ view, onClose }: EditKeyFormProps) {
  const [first] = useState(() => draftOf(view));
  const [draft, setDraft] = useState(first);
  const isManager = useRights().manages(view.group);
  const isBudgetAsked = new URLSearchParams(useSearch()).has('budget');
  const command = useCommand();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const isChanged = (field: keyof KeyDraft) => !isEqual(draft[field], first[field]);
    // Only what was changed here, so that what was changed elsewhere meanwhile stays.
    const changes = {
      ...(isChanged('name') && { name: draft.name.trim() || null }),
      ...(isChanged('group') && { group: draft.group }),
      ...(isChanged('models') && { models: draft.models.length > 0 ? draft.models : null }),
      ...(isChanged('limits') && { limits: limitsOf(draft.limits) ?? null }),
      ...(isChanged('capture') && { capture: draft.capture }),
      ...(draft.expiry !== first.expiry &&
        draft.expiry !== 'kept' && { expiresAt: expiryOf(draft.expiry, Date.now()) }),
    };
    if (await command.run({ type: 'key.update', id: view.id, changes })) onClose();
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="sm">
        <KeyName value={draft.name} onChange={(name) => setDraft({ ...draft, name })} isFirst={!isBudgetAsked} />
        {isManager && (
          <>
            <KeyFields draft={draft} onChange={setDraft} expiresAt={view.expiresAt} />
            <TestingLine kind="key" id={view.id} />
          </>
        )}
        <OwnAliases view={view} />
        <DialogActions command={command} onLeave={onClose} />
      </Stack>
    </form>
  );
}

/** They are made in the panel at the tray and by the command line; here one sees and removes them, each at once. */
function OwnAliases({ view }: Pick<EditKeyFormProps, 'view'>) {
  const { keys: names } = useMessages();
  const [aliases, setAliases] = useState(view.aliases);
  const providerName = useProviderName();
  const command = useCommand();
  if (aliases.length === 0) return null;
  const remove = async (name: string) => {
    if (await command.run({ type: 'alias.remove', name, key: view.id }))
      setAliases(aliases.filter((alias) => alias.name !== name));
  };
  return (
    <Fieldset legend={names.ownAliases} hint={names.ownAliasesHint}>
      <ul className={list.list}>
        {aliases.map(({ name, targets }) => (
          <li key={name} className={list.plain}>
            <div>
              <span className={list.mono}>{name}</span>
              <div className={list.detail}>
                {targets.map(({ provider, model }) => `${model} · ${providerName(provider)}`).join(' → ')}
              </div>
            </div>
            <IconAction
              label={names.removeOwnAlias(name)}
              icon={<IconTrash size={18} />}
              isDisabled={command.isRunning}
              onClick={() => void remove(name)}
            />
          </li>
        ))}
      </ul>
      {command.problem && <CommandProblem problem={command.problem} />}
    </Fieldset>
  );
}

interface RotateKeyProps {
  view: KeyView;
  onCancel(): void;
  onRotated(secret: ShownSecret): void;
}

/** The last value is the maximum that the engine accepts. */
const graceHours = [0, 1, 24, 168] as const;

/**
 * Asks for confirmation before a key gets a new secret, and when the old one should end. The safe choice has the focus.
 */
function RotateKey({ view, onCancel, onRotated }: RotateKeyProps) {
  const { keys: names, cancel } = useMessages();
  const [grace, setGrace] = useState<(typeof graceHours)[number]>(0);
  const command = useCommand();
  const name = view.name ?? view.id;
  const rotate = async () => {
    const result = await command.run({ type: 'key.rotate', id: view.id, graceHours: grace });
    if (!result) return;
    onRotated({ title: names.rotated, name, secret: result.secret, isKept: result.key.canReveal });
  };
  return (
    <Stack>
      <Text>{grace === 0 ? names.rotateText(name) : names.rotateTextGrace(name)}</Text>
      <NativeSelect
        label={names.grace}
        value={String(grace)}
        data={graceHours.map((hours) => ({ value: String(hours), label: names.graces[hours] }))}
        onChange={({ currentTarget }) =>
          setGrace(graceHours.find((hours) => String(hours) === currentTarget.value) ?? 0)
        }
      />
      {command.problem && <CommandProblem problem={command.problem} />}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onCancel} data-autofocus>
          {cancel}
        </Button>
        <Button color="red.8" loading={command.isRunning} onClick={() => void rotate()}>
          {names.rotateConfirm}
        </Button>
      </Group>
    </Stack>
  );
}
