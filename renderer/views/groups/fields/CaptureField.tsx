import { Switch } from '@mantine/core';
import { CaptureSwitch } from '../../../components/access/AccessFields.tsx';
import { CollapsibleFields } from '../../../components/forms/CollapsibleFields.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import type { PartProps } from './group-draft.ts';

/**
 * Whether requests and responses of the group's keys are captured: all of them, or those for which the client requests
 * it.
 */
export function CaptureField({ draft, change, lock }: PartProps) {
  const { groups: names } = useMessages();
  const { capture, captureOnRequest } = draft;
  const { all, onRequest, never } = names.captureSummary;
  const summary = capture ? all : captureOnRequest ? onRequest : never;
  return (
    <CollapsibleFields title={names.captureTitle} summary={summary} isSet={capture || !captureOnRequest} lock={lock}>
      <CaptureSwitch label={names.capture} isOn={capture} onChange={(isOn) => change({ capture: isOn })} />
      <Switch
        label={names.captureOnRequest}
        description={names.captureOnRequestHint}
        checked={captureOnRequest}
        onChange={(event) => change({ captureOnRequest: event.currentTarget.checked })}
      />
    </CollapsibleFields>
  );
}
