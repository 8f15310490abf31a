import { Button, Group, Stack } from '@mantine/core';
import { IconAlertTriangle, IconCheck, IconLock } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import type { TeamPresetPreview } from '../../../server/contract/change-views.ts';
import { useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { CredentialForm } from '../credentials/CredentialForm.tsx';
import { CommandProblem } from '../feedback/CommandProblem.tsx';
import { ChangeList } from './ChangeList.tsx';
import classes from './PresetDialog.module.css';

/** The preset as received, with the engine's preview. */
export interface PresetImport {
  preset: object;
  preview: TeamPresetPreview;
}

interface PresetReviewProps {
  preset: PresetImport;
  /** The provider that offered it; absent if it was imported. */
  joined?: string;
  /** Label of the button that closes the dialog without applying; "Cancel" if absent. */
  decline?: string;
  onClose(): void;
}

/**
 * Shows everything that a team preset would change before it is applied, and afterwards asks for missing credentials.
 */
export function PresetReview({ preset: { preset, preview }, joined, decline, onClose }: PresetReviewProps) {
  const messages = useMessages();
  const names = messages.team;
  const command = useCommand();
  const [missing, setMissing] = useState<string[] | null>(null);
  const apply = async () => {
    const expectedRevision = preview.revision;
    const offered = joined === undefined ? {} : { joined };
    const result = await command.run({ type: 'team-preset.apply', preset, ...offered, expectedRevision });
    if (result) setMissing(result.missingSecrets);
  };
  if (missing) return <MissingCredentials name={preview.preset.name} missing={missing} onClose={onClose} />;
  const isEmpty = preview.changes.length === 0 && preview.locked.length === 0;
  return (
    <Stack gap="sm">
      <Origin preset={preview.preset} />
      <Preview preview={preview} />
      {command.problem && <CommandProblem problem={command.problem} />}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose} data-autofocus>
          {isEmpty ? messages.close : (decline ?? messages.cancel)}
        </Button>
        {!isEmpty && (
          <Button loading={command.isRunning} onClick={() => void apply()}>
            {names.apply}
          </Button>
        )}
      </Group>
    </Stack>
  );
}

function Origin({ preset: { name, organisation, version, contact } }: { preset: TeamPresetPreview['preset'] }) {
  const { team: names } = useMessages();
  const facts = [names.by(organisation), ...(version === null ? [] : [names.version(version)])];
  return (
    <div>
      <p className={classes.name}>{name}</p>
      <p className={classes.soft}>{[...facts, ...(contact === null ? [] : [names.ask(contact)])].join(' · ')}</p>
    </div>
  );
}

function Preview({ preview: { changes, enteredAnew, locked } }: { preview: TeamPresetPreview }) {
  const { team: names } = useMessages();
  if (changes.length === 0 && locked.length === 0) return <p className={classes.text}>{names.nothing}</p>;
  return (
    <>
      <p className={classes.warning}>
        <IconAlertTriangle className={classes.icon} size={16} aria-hidden />
        <span>{names.warning}</span>
      </p>
      {enteredAnew.length > 0 && (
        <Part title={names.anewTitle} text={names.anewText}>
          <Paths paths={enteredAnew} />
        </Part>
      )}
      <Part title={names.changesTitle} text={changes.length === 0 ? names.nothing : null}>
        <ChangeList changes={changes} />
      </Part>
      {locked.length > 0 && (
        <Part title={names.lockTitle} text={names.lockText} icon={<IconLock size={15} aria-hidden />}>
          <Paths paths={locked} />
        </Part>
      )}
    </>
  );
}

interface PartProps {
  title: string;
  text: string | null;
  icon?: ReactNode;
  children: ReactNode;
}

function Part({ title, text, icon, children }: PartProps) {
  return (
    <section className={classes.part}>
      <h3 className={classes.title}>
        {icon} {title}
      </h3>
      {text !== null && <p className={classes.soft}>{text}</p>}
      {children}
    </section>
  );
}

function Paths({ paths }: { paths: readonly string[] }) {
  return (
    <ul className={classes.paths}>
      {paths.map((path) => (
        <li key={path}>
          <code>{path}</code>
        </li>
      ))}
    </ul>
  );
}

interface MissingCredentialsProps {
  /** Name of the preset. */
  name: string;
  /** `provider/credential`. */
  missing: readonly string[];
  onClose(): void;
}

/** The next step after a preset is applied: the person's own credential for each provider that needs one. */
export function MissingCredentials({ name, missing, onClose }: MissingCredentialsProps) {
  const { team: names, done } = useMessages();
  const [editing, setEditing] = useState<string | null>(null);
  return (
    <Stack gap="sm">
      <p className={classes.text} role="status">
        {names.applied(name)} {missing.length > 0 ? names.missing : names.complete}
      </p>
      <ul className={classes.credentials}>
        {missing.map((path) => (
          <MissingCredential
            key={path}
            path={path}
            isEditing={editing === path}
            onEdit={() => setEditing(path)}
            onEnd={() => setEditing(null)}
          />
        ))}
      </ul>
      <Group justify="flex-end">
        <Button variant={missing.length > 0 ? 'default' : 'filled'} onClick={onClose} data-autofocus>
          {done}
        </Button>
      </Group>
    </Stack>
  );
}

interface MissingCredentialProps {
  path: string;
  isEditing: boolean;
  onEdit(): void;
  onEnd(): void;
}

function MissingCredential({ path, isEditing, onEdit, onEnd }: MissingCredentialProps) {
  const { team: names } = useMessages();
  const [providerId = '', credentialId = ''] = path.split('/');
  const providers = useControlState((state) => state.views?.providers ?? null) ?? [];
  const provider = providers.find(({ id }) => id === providerId);
  const credential = provider?.credentials.find(({ id }) => id === credentialId);
  const title = provider?.name ?? providerId;
  return (
    <li className={classes.credential}>
      <div className={classes.credentialHead}>
        <div>
          <p className={classes.name}>{title}</p>
          <p className={classes.soft}>{credential?.label ?? credentialId}</p>
        </div>
        {credential?.hasSecret ? (
          <span className={classes.entered} role="status">
            <IconCheck size={16} aria-hidden /> {names.entered}
          </span>
        ) : (
          !isEditing && (
            <Button size="xs" aria-label={names.enterNamed(title)} onClick={onEdit}>
              {names.enter}
            </Button>
          )
        )}
      </div>
      {isEditing && credential && (
        <CredentialForm provider={providerId} credential={credential} onCancel={onEnd} onSaved={onEnd} />
      )}
    </li>
  );
}
