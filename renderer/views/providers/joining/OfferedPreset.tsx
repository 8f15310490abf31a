import { Button, Group, Loader, Stack, Text } from '@mantine/core';
import type { JoinPreset } from '../../../../server/contract/team-preset.ts';
import { CommandProblem, Problem } from '../../../components/feedback/CommandProblem.tsx';
import { PresetReview } from '../../../components/import/PresetReview.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { useQuery } from '../../../state/control/use-query.ts';

interface OfferedPresetProps {
  /** Host of the gateway. */
  host: string;
  /** The gateway's provider id. */
  provider: string;
  preset: Exclude<JoinPreset, { state: 'none' }>;
  onDone(): void;
}

/** Offers the team preset of a gateway that was just joined, or reports what became of it. */
export function OfferedPreset({ host, provider, preset, onDone }: OfferedPresetProps) {
  const { joining: names, done } = useMessages();
  const offered = preset.state === 'offered' ? preset.preset : null;
  const { answer, problem } = useQuery(offered && { type: 'team-preset-preview', preset: offered });
  if (offered && answer) {
    return (
      <Stack gap="sm">
        <Text role="status">{names.presetText(host)}</Text>
        <PresetReview
          preset={{ preset: offered, preview: answer }}
          joined={provider}
          decline={names.withoutPreset}
          onClose={onDone}
        />
      </Stack>
    );
  }
  if (offered && !problem) return <Loader size="sm" />;
  return (
    <Stack gap="sm">
      <Text role="status">{preset.state === 'managed' ? names.presetManaged(host) : names.presetUnusable(host)}</Text>
      {problem && <CommandProblem problem={problem} />}
      {preset.state === 'unusable' && <Problem text={preset.reason} />}
      <Group justify="flex-end">
        <Button onClick={onDone} data-autofocus>
          {done}
        </Button>
      </Group>
    </Stack>
  );
}
