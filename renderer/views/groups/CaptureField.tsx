import { Switch } from '@mantine/core';
import { useLocalization } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/use-control.ts';
import type { DraftProps } from './group-draft.ts';

/** Whether bodies are kept, and what that means. */
export function CaptureField({ draft, change }: DraftProps) {
  const { messages, formats } = useLocalization();
  const names = messages.groups;
  const limits = useControlState((state) => state.views?.status.settings.capture ?? null);
  const size = formats.number(Math.round((limits?.maxBytes ?? 0) / 1024));
  return (
    <Switch
      label={names.capture}
      description={names.captureHint(size, formats.number(limits?.retentionDays ?? 0))}
      checked={draft.capture}
      onChange={(event) => change({ capture: event.currentTarget.checked })}
    />
  );
}
