import { Modal } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import type { RequestInFull } from '../../../../server/contract/request-views.ts';
import type { MissingRequest, SentRequest } from '../../../../server/contract/sent-request.ts';
import { useMessages } from '../../../messages/use-messages.ts';
import { CaptureButton } from '../body/CaptureAbsent.tsx';
import { withPanelKeys } from '../keyboard/use-panel-keys.ts';
import { CompareModels } from './CompareModels.tsx';
import classes from './SendAgain.module.css';
import { SendAgain } from './SendAgain.tsx';

/** Unchanged, with the body open for editing, or to several models. */
export type SendMode = 'again' | 'edit' | 'compare';

interface SendDialogProps {
  /** Null while closed. */
  mode: SendMode | null;
  original: SentRequest;
  full: RequestInFull;
  onClose(): void;
}

/** Sends a request again. If it was not captured, explains why and offers to capture the next ones. */
export function SendDialog({ mode, original, full, onClose }: SendDialogProps) {
  const { inspector: names, close } = useMessages();
  const isNarrow = useMediaQuery('(max-width: 799px)', false, { getInitialValueInEffect: false });
  return (
    <Modal
      opened={mode !== null}
      onClose={onClose}
      title={mode === 'compare' ? names.compare.title : names.sendAgain}
      size={980}
      fullScreen={isNarrow}
      closeOnClickOutside={false}
      // Escape is handled by `usePanelKeys`, which ignores it in text fields.
      closeOnEscape={false}
      closeButtonProps={{ 'aria-label': close }}
      transitionProps={{ duration: 0 }}
      attributes={{ header: { role: 'presentation' }, content: withPanelKeys }}
      styles={{ title: { fontWeight: 600, fontSize: 'var(--mantine-font-size-lg)' } }}
    >
      {original.kind === 'missing' ? (
        <Missing missing={original} />
      ) : mode === 'compare' ? (
        <CompareModels original={original} />
      ) : (
        <SendAgain original={original} full={full} isEdited={mode === 'edit'} />
      )}
    </Modal>
  );
}

function Missing({ missing: { why, request } }: { missing: MissingRequest }) {
  const { inspector: names, requests } = useMessages();
  const reasons = { ...requests.captureGaps, ...requests.captureAbsences, 'not-text': names.notText };
  return (
    <div className={classes.missing}>
      <p>{names.nothingToSend}</p>
      <p>{reasons[why]}</p>
      <CaptureButton keyId={request.keyId} />
    </div>
  );
}
