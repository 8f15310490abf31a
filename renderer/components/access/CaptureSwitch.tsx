import { Switch } from '@mantine/core';
import { useLocalization } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/control/use-control.ts';

interface CaptureSwitchProps {
  label: string;
  isOn: boolean;
  onChange(isOn: boolean): void;
}

/** Capture setting of a key or group: whether headers and bodies are kept, how much of them, and for how long. */
export function CaptureSwitch({ label, isOn, onChange }: CaptureSwitchProps) {
  const { messages, formats } = useLocalization();
  const limits = useControlState((state) => state.views?.status.settings.capture ?? null);
  const size = formats.number(Math.round((limits?.maxBytes ?? 0) / 1024));
  return (
    <Switch
      label={label}
      description={messages.requests.captureHint(size, formats.number(limits?.retentionDays ?? 0))}
      checked={isOn}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  );
}
