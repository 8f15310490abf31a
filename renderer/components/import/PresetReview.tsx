import { Button, Group, Stack } from '@mantine/core';
import { IconAlertTriangle, IconLock } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import type { TeamPresetPreview } from '../../../server/contract/change-views.ts';
import { useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { CommandProblem } from '../feedback/CommandProblem.tsx';
import { ChangeList } from './ChangeList.tsx';
import { MissingCredentials } from './MissingCredentials.tsx';
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
