import { Button } from '@mantine/core';
import { IconClipboard, IconFileImport } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { pathOf } from '../../../../server/contract/places.ts';
import type { TeamPresetView } from '../../../../server/contract/status-views.ts';
import { ChooseFileButton } from '../../../components/buttons/ChooseFileButton.tsx';
import { CopyLine } from '../../../components/copying/CopyButton.tsx';
import { ConfirmDialog } from '../../../components/dialogs/ConfirmDialog.tsx';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { useOpenImport } from '../../../components/import/ImportProvider.tsx';
import { PasteDialog } from '../../../components/import/PasteDialog.tsx';
import { Section } from '../../../components/layout/Section.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { asControlError, type ControlError } from '../../../state/api/api.ts';
import { useCommand } from '../../../state/control/use-command.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { useCanChange, useViewer } from '../../../state/rights/use-rights.ts';
import classes from '../Settings.module.css';

/** What a team hands out, and how others come to use this Sluice. */
export function TeamPart() {
  return (
    <div className={classes.sections}>
      <PresetsSection />
      <InvitePeople />
    </div>
  );
}

/** The team presets in force, and the ways to import one. */
function PresetsSection() {
  const { team: names } = useMessages();
  const presets = useControlState((state) => state.views?.status.team.presets ?? null) ?? [];
  const canChange = useCanChange();
  const openImport = useOpenImport();
  const [isPasting, setPasting] = useState(false);
  const [problem, setProblem] = useState<ControlError | null>(null);
  const chooseFile = async (file: File) => {
    setProblem(null);
    await openImport({ name: file.name, text: await file.text() }).catch((error) => setProblem(asControlError(error)));
  };
  return (
    <Section title={names.part}>
      <div className={classes.form}>
        <p className={classes.text}>{names.hint}</p>
        {presets.length === 0 && <p className={classes.text}>{names.none}</p>}
        {presets.map((preset) => (
          <PresetInForce key={preset.source} preset={preset} />
        ))}
        <div className={classes.acts}>
          <ChooseFileButton
            accept="application/json,.json"
            icon={<IconFileImport size={14} />}
            disabled={!canChange}
            onChoose={(file) => void chooseFile(file)}
          >
            {names.choose}
          </ChooseFileButton>
          <Button
            size="xs"
            variant="default"
            disabled={!canChange}
            leftSection={<IconClipboard size={14} />}
            onClick={() => setPasting(true)}
          >
            {names.paste}
          </Button>
        </div>
        {problem && <CommandProblem problem={problem} />}
      </div>
      <PasteDialog
        opened={isPasting}
        title={names.pasteTitle}
        label={names.pasteLabel}
        onClose={() => setPasting(false)}
      />
    </Section>
  );
}

/** How others come to use this Sluice with keys of their own: by a public address, where they sign in. */
function InvitePeople() {
  const { team: names } = useMessages();
  const { isShared } = useViewer();
  const baseUrl = useControlState(({ views }) => views?.status.baseUrl ?? null);
  return (
    <Section title={names.invite.title}>
      <div className={classes.form}>
        <p className={classes.text}>{isShared ? names.invite.shared : names.invite.alone}</p>
        {isShared && baseUrl !== null && <CopyLine value={new URL(baseUrl).origin} label={names.invite.address} />}
        {!isShared && <CopyLine value={serveCommand} label={names.invite.command} />}
        {isShared && (
          <div className={classes.acts}>
            <Button component={Link} href={pathOf('people')} size="xs" variant="default">
              {names.invite.open}
            </Button>
          </div>
        )}
      </div>
    </Section>
  );
}

const serveCommand = 'sluice serve --public-url https://sluice.example.com';

function PresetInForce({ preset }: { preset: TeamPresetView }) {
  const { team: names } = useMessages();
  const command = useCommand();
  const canChange = useCanChange();
  const [isLeaving, setLeaving] = useState(false);
  const { name, organisation, version, contact, source, gateway } = preset;
  const facts = [
    names.by(organisation),
    ...(version === null ? [] : [names.version(version)]),
    ...(contact === null ? [] : [names.ask(contact)]),
  ];
  const close = () => {
    command.forget();
    setLeaving(false);
  };
  const leave = async () => {
    if (await command.run({ type: 'team-preset.leave' })) close();
  };
  return (
    <div className={classes.preset}>
      <div>
        <p className={classes.presetName}>{name}</p>
        <p className={classes.text}>{facts.join(' · ')}</p>
        <p className={classes.text}>
          {gateway === undefined ? names.sources[source] : names.fromGateway(new URL(gateway).host)}
        </p>
      </div>
      {source === 'imported' && (
        <Button size="xs" variant="default" disabled={!canChange} onClick={() => setLeaving(true)}>
          {names.leave}
        </Button>
      )}
      <ConfirmDialog
        opened={isLeaving}
        title={names.leaveTitle}
        text={gateway === undefined ? names.leaveText(name) : names.leaveGatewayText(name)}
        confirm={names.leaveConfirm}
        isRunning={command.isRunning}
        problem={command.problem}
        onConfirm={() => void leave()}
        onClose={close}
      />
    </div>
  );
}
