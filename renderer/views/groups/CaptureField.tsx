import { Switch } from '@mantine/core';
import { CaptureSwitch } from '../../components/CaptureSwitch.tsx';
import { FieldPart } from '../../components/FieldPart.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import type { DraftProps } from './group-draft.ts';

/** Whether what the group's keys send and receive is kept: all of it, or what a client asks to have kept. */
export function CaptureField({ draft, change }: DraftProps) {
  const { groups: names } = useMessages();
  return (
    <FieldPart legend={names.captureTitle}>
      <CaptureSwitch label={names.capture} isOn={draft.capture} onChange={(capture) => change({ capture })} />
      <Switch
        label={names.captureOnRequest}
        description={names.captureOnRequestHint}
        checked={draft.captureOnRequest}
        onChange={(event) => change({ captureOnRequest: event.currentTarget.checked })}
      />
    </FieldPart>
  );
}
